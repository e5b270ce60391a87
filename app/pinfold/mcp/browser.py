"""The user's browser."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress


def open_page(url: str) -> bool:
    """Open an http address where there is a desktop; whether that was tried. Blocking.

    It prints nothing: what a browser says would be drawn over the screen.
    """
    program = "open" if sys.platform == "darwin" else "xdg-open"
    env = os.environ
    desktop = sys.platform == "darwin" or env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")
    found = shutil.which(program)
    if not found or not desktop or env.get("SSH_CONNECTION"):
        return False
    with suppress(OSError):
        subprocess.Popen(
            [found, url],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return True
    return False
