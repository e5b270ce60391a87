"""Terminals: one that is only said to be, and a real one."""

import fcntl
import io
import os
import pty
import select
import signal
import struct
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

PATIENCE = 60.0
"""Seconds after which a terminal has said its last; nothing is waited for so long."""


class Terminal(io.StringIO):
    """Standard input as a terminal gives it."""

    def isatty(self) -> bool:
        return True


class RealTerminal:
    """A process on a pseudo-terminal of 80 columns and 24 lines."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], folder: Path) -> None:
        self.pid, self._fd = pty.fork()
        if not self.pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            os.chdir(folder)
            os.execve(argv[0], argv, {**env, "TERM": "xterm-256color"})
        self._seen = b""

    def type(self, text: bytes) -> None:
        os.write(self._fd, text)

    def until(self, text: bytes) -> bytes:
        """Read up to where `text` is printed. Blocking."""
        while text not in self._seen:
            if not select.select([self._fd], [], [], PATIENCE)[0]:
                raise AssertionError(f"{text!r} did not come; the last was {self._seen[-300:]!r}")
            self._seen += os.read(self._fd, 65_536)
        before, _, self._seen = self._seen.partition(text)
        return before

    def close(self) -> None:
        os.close(self._fd)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
