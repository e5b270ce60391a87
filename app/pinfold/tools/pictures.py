"""The pictures that a prompt names with `@`: they go out with it."""

import base64
import re
from io import BytesIO
from pathlib import Path

from pinfold.ports.tool import ToolError
from pinfold.rollout.items import Image
from pinfold.tools import workspace

MAX_BYTES = 20_000_000
"""Of one picture."""
MAX_PICTURES = 10
_NAMED = re.compile(
    r"""(?:^|(?<=[\s(\["'`]))@(?:"([^"\n]+\.(?:png|jpe?g|gif|webp))"|"""
    r"""([^\s@"]+\.(?:png|jpe?g|gif|webp))(?=[\s)\]"'`.,;:!?]|$))""",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[^\s@\"]+")
_TYPES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp"),
)


def mention(path: str) -> str:
    """How a prompt names the picture at `path`."""
    return f"@{path}" if _PLAIN.fullmatch(path) else f'@"{path}"'


def named(prompt: str) -> list[str]:
    """The pictures that a prompt names, each once."""
    return list(dict.fromkeys(quoted or plain for quoted, plain in _NAMED.findall(prompt)))


def media_type_of(data: bytes) -> str | None:
    """What kind of picture it is, by its first bytes; None where it is none that goes out."""
    return next((kind for start, kind in _TYPES if start.match(data)), None)


def attached(prompt: str, root: Path) -> tuple[tuple[Image, ...], tuple[str, ...]]:
    """The pictures, and a sentence for each that can't go out. Blocking.

    `root` is the resolved working directory.
    """
    images: list[Image] = []
    problems: list[str] = []
    for name in named(prompt):
        try:
            if len(images) == MAX_PICTURES:
                raise ToolError(f"A prompt can have at most {MAX_PICTURES} pictures.")
            images.append(_read(name, root))
        except ToolError as error:
            problems.append(f"@{name} is not attached: {error}")
    return tuple(images), tuple(problems)


def _read(name: str, root: Path) -> Image:
    import imagesize

    path = workspace.resolve(name, root)
    size = workspace.require_file(path, root)
    if size > MAX_BYTES:
        limit = workspace.size_text(MAX_BYTES)
        raise ToolError(f"it has {workspace.size_text(size)}, more than {limit}.")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ToolError(f"{name}: {error.strerror}") from error
    media_type = media_type_of(data)
    if media_type is None:
        raise ToolError("it is not a PNG, JPEG, GIF or WebP.")
    width, height = imagesize.get(BytesIO(data))
    return Image(media_type, base64.b64encode(data).decode(), max(width, 0), max(height, 0))
