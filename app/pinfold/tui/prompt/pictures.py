"""Picture files whose paths are pasted or dropped into the prompt."""

import re
import shlex
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pinfold.tools.pictures import mention

MAX_LENGTH = 8_000
_ENDING = re.compile(r"\.(?:png|jpe?g|gif|webp)['\"]?\s*\Z", re.IGNORECASE)


def mentions(text: str, folder: Path) -> str:
    """`@path` for each, where `text` is nothing but paths of pictures that are there; else empty.

    Terminals drop a path plain, quoted, with escapes, or as a `file://` address.
    """
    if len(text) > MAX_LENGTH or "\n" in text.strip() or not _ENDING.search(text):
        return ""
    if found := _file(text.strip(), folder):
        return mention(found)
    try:
        words = shlex.split(text)
    except ValueError:
        return ""
    files = [_file(word, folder) for word in words]
    return " ".join(mention(file) for file in files if file) if files and all(files) else ""


def _file(word: str, folder: Path) -> str:
    """The path of a picture that is there; below `folder` as it is seen from there."""
    if not _ENDING.search(word):
        return ""
    if word.startswith("file://"):
        parts = urlsplit(word)
        if parts.netloc not in ("", "localhost"):
            return ""
        word = unquote(parts.path)
    try:
        path = folder / Path(word).expanduser()
        if not path.is_file():
            return ""
    except (OSError, RuntimeError, ValueError):
        return ""
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)
