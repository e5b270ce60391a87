"""Runs a program in a pseudo-terminal, the way its user would see it."""

import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from benchmarks.memory import pss


class Terminal:
    """A program on a screen of its own. Leaving the context kills it."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], columns: int = 120, rows: int = 40
    ) -> None:
        self._screen, inside = pty.openpty()
        termios.tcsetwinsize(inside, (rows, columns))
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env={**os.environ, "TERM": "xterm-256color", **env},
            start_new_session=True,
        )
        os.close(inside)
        self._came = b""
        self._mark = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.returncode is None:
            self.stop()
        os.close(self._screen)

    def wait_for(self, text: str, within: float = 30) -> float:
        """Read until `text` is painted, in one piece and after the last `send`.

        Gives seconds since the start. Raises `TimeoutError`, or `EOFError` if the program ended.
        """
        end = time.perf_counter() + within
        while text.encode() not in self._came[self._mark :]:
            left = end - time.perf_counter()
            if left <= 0:
                raise TimeoutError(f"no {text!r} in {within} s; last came {self._came[-500:]!r}")
            self._read(left)
        return time.perf_counter() - self._started

    def drain(self, seconds: float) -> None:
        """Let the program run, and read what it paints."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self._read(left)

    def send(self, keys: str) -> None:
        """Type."""
        self._mark = len(self._came)
        os.write(self._screen, keys.encode())

    def memory(self) -> float:
        """See `memory.pss`."""
        return pss(self._process.pid)

    def stop(self) -> float:
        """Kill the program. Gives the CPU seconds that it used."""
        self._process.kill()
        return cpu_seconds(self._process)

    def _read(self, within: float) -> None:
        if not select.select([self._screen], [], [], within)[0]:
            return
        try:
            came = os.read(self._screen, 65536)
        except OSError:  # how Linux tells that the other side is gone
            came = b""
        if not came:
            raise EOFError(f"the program ended; last came {self._came[-500:]!r}")
        self._came += came


def cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    """Wait for the end of a process. Gives its CPU time, user and system."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime
