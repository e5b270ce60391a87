"""Commands of the user's own that ask for keys."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from pinfold.ports.tool import ToolContext, ToolOutcome
from pinfold.tools.shell import ShellTool

RAW = "python3 -c 'import sys, tty; print(1, flush=True); tty.setraw(0); print(sys.stdin.read(2))'"


class Keyboard:
    """A terminal at which `keys` are typed as soon as it is lent."""

    def __init__(self, keys: bytes = b"") -> None:
        self.keys = keys
        self.shown = b""

    def terminal_size(self) -> tuple[int, int]:
        return 24, 80

    def take(self, pty: int, shown: bytes, ended: Callable[[], bool]) -> bytes:
        self.shown = shown
        os.write(pty, self.keys)
        printed = b""
        with suppress(OSError):  # how the end of a pseudo-terminal shows
            while True:
                printed += os.read(pty, 1024)
        assert ended() or printed
        return printed


async def ran(command: str, folder: Path, terminal: Keyboard) -> ToolOutcome:
    import json

    context = ToolContext(folder, folder, "c1", lambda _: None, terminal=terminal)
    async with asyncio.timeout(30):
        return await ShellTool().run(json.dumps({"command": command}), context)


async def test_who_wants_keys_gets_the_terminal(tmp_path: Path) -> None:
    terminal = Keyboard(b"hi")
    outcome = await ran(RAW, tmp_path, terminal)
    assert terminal.shown == b"1\n"
    assert outcome.output.startswith("1\nhi")
    assert "it had the user's terminal" in outcome.output
    assert outcome.ok


async def test_whole_screens_are_not_told_to_the_model(tmp_path: Path) -> None:
    screen = r"printf '\033[?1000h\033[?1049h'; stty raw; head -c 1; printf secret"
    outcome = await ran(screen, tmp_path, Keyboard(b"x"))
    assert "secret" not in outcome.output
    assert "\x1b" not in outcome.output
    assert "it had the user's terminal" in outcome.output


@pytest.mark.parametrize("command", ["cat", 'read line; echo "$line"', "wc -l"])
async def test_who_reads_lines_finds_no_input(command: str, tmp_path: Path) -> None:
    terminal = Keyboard()
    outcome = await ran(command, tmp_path, terminal)
    assert "exit code" in outcome.output
    assert "terminal" not in outcome.output


async def test_its_output_is_plain(tmp_path: Path) -> None:
    outcome = await ran("echo one; echo two >&2; test -t 1 && echo tty", tmp_path, Keyboard())
    assert outcome.output.startswith("one\ntwo\ntty\n[exit code 0")
