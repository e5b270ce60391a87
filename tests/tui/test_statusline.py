"""The status line of the user's own command."""

import json
from pathlib import Path

import pytest

from pinfold.tui.statusline import StatusFailed, line


async def test_the_first_line_that_it_prints_is_shown_with_its_colours(tmp_path: Path) -> None:
    shown = await line(r"printf '\033[31mred\033[0m plain\nsecond'", tmp_path, {})
    assert shown.plain == "red plain"
    assert [(span.start, span.end) for span in shown.spans] == [(0, 3)]


async def test_it_is_told_of_the_session_as_json(tmp_path: Path) -> None:
    told: dict[str, object] = {"model": {"id": "m-1"}, "cwd": str(tmp_path)}
    shown = await line("cat", tmp_path, told)
    assert json.loads(shown.plain) == told


async def test_what_it_prints_never_drives_the_terminal(tmp_path: Path) -> None:
    shown = await line(r"printf 'a\033]0;title\007b\033[2Jc\302\233d'", tmp_path, {})
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in shown.plain)


@pytest.mark.parametrize(
    ("command", "why"),
    [("exit 3", "exit code 3"), ("true", "printed nothing"), ("sleep 60", "longer than 0.2 s")],
)
async def test_a_command_that_fails_says_why(
    command: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pinfold.tui.statusline.TIMEOUT", 0.2 if "sleep" in command else 60)
    with pytest.raises(StatusFailed, match=why):
        await line(command, tmp_path, {})
