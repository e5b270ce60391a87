"""The picture on the clipboard, read with the desktop's own program."""

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from pinfold.ports.tool import ToolError
from pinfold.tools.pictures import MAX_BYTES
from pinfold.tools.process import output_of

TIMEOUT = 5.0
"""Seconds."""
PNG = b"\x89PNG\r\n\x1a\n"
_MAC = (
    "osascript",
    "-e",
    "set data_ to the clipboard as «class PNGf»",
    "-e",
    "return data_",
)


def readers(env: Mapping[str, str], platform: str = sys.platform) -> list[list[str]]:
    """Commands that may print the clipboard's picture as PNG, best first."""
    if platform == "darwin":
        return [["pngpaste", "-"], [*_MAC]]
    wayland = [["wl-paste", "--no-newline", "--type", "image/png"]]
    x11 = [["xclip", "-selection", "clipboard", "-target", "image/png", "-out"]]
    return [*(wayland if env.get("WAYLAND_DISPLAY") else []), *(x11 if env.get("DISPLAY") else [])]


async def save_picture(folder: Path) -> Path:
    """Write the clipboard's picture into `folder`. Raises `ToolError` where there is none."""
    commands = [words for words in readers(os.environ) if shutil.which(words[0])]
    for words in commands:
        data = _png(await _printed(words, folder))
        if data:
            return await asyncio.to_thread(_save, data, folder)
    if commands:
        raise ToolError("There is no picture on the clipboard.")
    programs = "pngpaste" if sys.platform == "darwin" else "wl-paste (Wayland) or xclip (X11)"
    raise ToolError(f"The clipboard's picture can't be read: that needs {programs}.")


async def _printed(words: list[str], folder: Path) -> bytes:
    """What a command prints; nothing where it fails."""
    most = 3 * MAX_BYTES  # AppleScript prints two digits for a byte
    try:
        async with asyncio.timeout(TIMEOUT):
            code, printed = await output_of(words, folder, most, stderr=asyncio.subprocess.DEVNULL)
    except (TimeoutError, ToolError, OSError):
        return b""
    return b"" if code or len(printed) == most else printed


def _png(printed: bytes) -> bytes:
    """The picture, which AppleScript prints as «data PNGf89504E…»."""
    if printed.startswith(PNG):
        return printed
    text = printed.decode("utf-8", "ignore").strip()
    if not text.startswith("«data PNGf"):
        return b""
    try:
        data = bytes.fromhex(text.removeprefix("«data PNGf").removesuffix("»"))
    except ValueError:
        return b""
    return data if data.startswith(PNG) else b""


def _save(data: bytes, folder: Path) -> Path:
    if len(data) > MAX_BYTES:
        raise ToolError(f"The picture has {len(data):,} bytes, more than {MAX_BYTES:,}.")
    pasted = folder / "pasted"
    pasted.mkdir(mode=0o700, exist_ok=True)
    number = 1
    while True:
        path = pasted / f"{number}.png"
        try:
            with path.open("xb") as file:
                path.chmod(0o600)
                file.write(data)
        except FileExistsError:
            number += 1
        else:
            return path
