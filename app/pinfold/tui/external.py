"""What takes the terminal for a while: the user's own editor, and the shell."""

import os
import select
import shlex
import signal
import subprocess
import tempfile
import termios
import tty
from collections.abc import Callable
from pathlib import Path

CHUNK = 1 << 16
PRINTED = 1 << 20
LOOK = 0.2
"""Seconds without output after which the command is checked for its end."""


def edit(text: str) -> str:
    """`text` as the user leaves it in `$VISUAL` or `$EDITOR`. Blocking. Raises `OSError`."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="pinfold-") as folder:
        path = Path(folder) / "prompt.md"
        path.write_text(text, encoding="utf-8")
        status = subprocess.run([*shlex.split(command), str(path)], check=False).returncode
        if status:
            raise OSError(f"{command} ended with {status}")
        return path.read_text(encoding="utf-8", errors="replace").rstrip("\n")


def connect(pty: int, shown: bytes, ended: Callable[[], bool]) -> bytes:
    """Connect the terminal with the pseudo-terminal of a command until it has `ended`.

    Blocks. `shown` was printed before; returns the last `PRINTED` bytes that were printed since.
    Raises `OSError` where there is no terminal.
    """
    printed = bytearray()
    tty_fd = os.open("/dev/tty", os.O_RDWR)
    before, resized = termios.tcgetattr(tty_fd), signal.getsignal(signal.SIGWINCH)

    def resize(*_: object) -> None:
        termios.tcsetwinsize(pty, termios.tcgetwinsize(tty_fd))

    try:
        tty.setraw(tty_fd)
        signal.signal(signal.SIGWINCH, resize)
        resize()
        _write(tty_fd, shown)
        while True:
            ready, _, _ = select.select([tty_fd, pty], [], [], LOOK)
            if not ready and ended():
                return bytes(printed)
            if tty_fd in ready:
                _write(pty, os.read(tty_fd, CHUNK))
            if pty in ready:
                try:
                    chunk = os.read(pty, CHUNK)
                except OSError:  # how the end of a pseudo-terminal shows
                    chunk = b""
                if not chunk:
                    return bytes(printed)
                _write(tty_fd, chunk)
                printed += chunk
                del printed[:-PRINTED]
    finally:
        signal.signal(signal.SIGWINCH, resized)
        termios.tcsetattr(tty_fd, termios.TCSADRAIN, before)
        os.close(tty_fd)


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def stop_job() -> None:
    """Stop as the terminal itself would for Ctrl+Z; returns when the shell continues us.

    All of the job stops: the shell would wait for ever for a `make run` that continues. Where no
    shell could continue it, nothing stops.
    """
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    try:
        os.kill(0, signal.SIGTSTP)
    finally:
        signal.signal(signal.SIGTSTP, before)
