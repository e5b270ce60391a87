"""Ctrl+Z in a real terminal, under a shell that waits for the job as a whole."""

import os
import pty
import select
import signal
import sys
from pathlib import Path

import pytest

from fakes.process import Pinfold

SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if not job:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execvp("sh", ["sh", "-c", '"$0" -m pinfold demo --speed 0; true', sys.executable])
print("stopped" if os.WIFSTOPPED(os.waitpid(job, os.WUNTRACED)[1]) else "ended", flush=True)
os.tcsetpgrp(0, os.getpgrp())
input()
os.tcsetpgrp(0, job)
os.killpg(job, signal.SIGCONT)
print("ended", os.waitstatus_to_exitcode(os.waitpid(job, 0)[1]), flush=True)
"""
PATIENCE = 60.0
"""Seconds after which the terminal has said its last; nothing is waited for so long."""


class Terminal:
    def __init__(self, env: dict[str, str]) -> None:
        self.pid, self._fd = pty.fork()
        if not self.pid:
            os.execve(sys.executable, [sys.executable, "-c", SHELL], env)
        self._seen = b""

    def type(self, text: bytes) -> None:
        os.write(self._fd, text)

    def until(self, text: bytes) -> bytes:
        """Read up to where `text` is printed."""
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


@pytest.mark.skipif(not hasattr(pty, "fork"), reason="no terminals here")
def test_ctrl_z_gives_the_shell_its_terminal_and_fg_comes_back(tmp_path: Path) -> None:
    env = {**Pinfold(tmp_path).env, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
    terminal = Terminal(env)
    try:
        terminal.until(b"F1 help")
        terminal.type(b"\x1a")
        assert b"\x1b[?1049l" in terminal.until(b"stopped")  # the screen has been left
        terminal.type(b"\n")
        assert b"\x1b[?1049h" in terminal.until(b"F1 help")
        terminal.type(b"\x04")
        terminal.until(b"ended 0")
    finally:
        terminal.close()
