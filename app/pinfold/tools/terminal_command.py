"""A user's command on its own pseudo-terminal, which may ask for keys.

Whoever switches off line editing or echo waits for keys: an editor, a pager, a password. The user's
terminal is lent to it then. What only reads lines finds the end of its input, as from `/dev/null`.
"""

import asyncio
import os
import re
import sys
import termios
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from itertools import count
from pathlib import Path

from pinfold.ports.tool import Terminal
from pinfold.tools.process import RunningCommand

LOOKS = 6
"""After so many its input ends; who asks for keys only later finds a NUL among them."""
POLL = 0.05
"""Seconds between two looks at the terminal's modes."""
SHOWN = 1 << 16
"""Bytes that the user's terminal shows at first of what was printed before."""
_ON_ITS_TERMINAL = "import os, sys; os.login_tty(0); os.execvp(sys.argv[1], sys.argv[1:])"
_MODES = re.compile(rb"\x1b\[[?>][\d;]*[a-z]")
"""Modes of the terminal, which are no output."""
_FULL_SCREEN = re.compile(rb"\x1b\[\?(?:47|1047|1049)h")


class TerminalCommand(RunningCommand):
    """A running command whose input and output are a pseudo-terminal."""

    def __init__(
        self, argv: Sequence[str], folder: Path, *, env: Mapping[str, str], terminal: Terminal
    ) -> None:
        own = [sys.executable, "-I", "-S", "-c", _ON_ITS_TERMINAL, *argv]
        super().__init__(own, folder, env=env)
        self._terminal = terminal
        self._shown = bytearray()
        self._printed: bytes | None = None
        self._draws = False
        """Whether it draws whole screens, which are no output."""

    @property
    def lent(self) -> bytes | None:
        """What it printed on the user's terminal, without whole screens; None if it had none."""
        if self._printed is None:
            return None
        draws = self._draws or _FULL_SCREEN.search(self._printed)
        return b"" if draws else _MODES.sub(b"", self._printed)

    def _channel(self) -> tuple[int, int]:
        master, slave = os.openpty()
        modes = termios.tcgetattr(slave)
        modes[1] &= ~termios.OPOST
        modes[6][termios.VEOF] = b"\x04"
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        termios.tcsetwinsize(slave, self._terminal.terminal_size())
        self._master, self._stdin = os.dup(master), slave
        return master, slave

    def _closed(self) -> None:
        os.close(self._master)

    async def output(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in super().output():
                drawing = self._draws
                self._shown += chunk
                del self._shown[:-SHOWN]
                found = None if drawing else _FULL_SCREEN.search(chunk)
                self._draws = drawing or found is not None
                if not drawing:
                    yield _MODES.sub(b"", chunk[: found.start()] if found else chunk)
        except OSError:  # how the end of a pseudo-terminal shows
            pass

    def _has_ended(self) -> bool:
        """Asks the system: asyncio hears of nothing while the loop is blocked."""
        try:
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self._process.pid, flags) is not None
        except ChildProcessError:
            return True

    async def lend(self, begun: Callable[[], None]) -> None:
        """Wait until it asks for keys, and lend it the user's terminal until it ends.

        Blocks the loop meanwhile: nothing else may write to the terminal.
        """
        cooked = termios.ICANON | termios.ECHO
        for look in count(1):
            if termios.tcgetattr(self._master)[3] & cooked != cooked:
                break
            if look == LOOKS:  # who reads lines finds the end of them
                os.write(self._master, b"\x04")
            await asyncio.sleep(POLL)
        await asyncio.sleep(POLL)  # what it has printed is on its way
        self._pipe.pause_reading()
        begun()
        modes = termios.tcgetattr(self._master)
        modes[1] |= termios.OPOST
        termios.tcsetattr(self._master, termios.TCSANOW, modes)
        os.set_blocking(self._master, True)
        try:
            shown = bytes(self._shown)
            self._printed = self._terminal.take(self._master, shown, self._has_ended)
        except OSError as error:
            self._printed = f"\n[{error}]\n".encode()
            self._process.terminate()
        os.set_blocking(self._master, False)
        self._pipe.resume_reading()
