"""Ctrl+Z in a real terminal, under a shell that waits for the job as a whole."""

import pty
import sys
from pathlib import Path

import pytest

from fakes.process import Pinfold
from fakes.terminal import RealTerminal

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


@pytest.mark.skipif(not hasattr(pty, "fork"), reason="no terminals here")
def test_ctrl_z_gives_the_shell_its_terminal_and_fg_comes_back(tmp_path: Path) -> None:
    pinfold = Pinfold(tmp_path)
    terminal = RealTerminal([sys.executable, "-c", SHELL], pinfold.env, pinfold.work)
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
