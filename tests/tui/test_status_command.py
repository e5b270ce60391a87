"""The status line of the user's own command."""

import json
from argparse import Namespace
from pathlib import Path

import pytest

from fakes.commands import FakeContext, run
from fakes.live_session import live_session
from fakes.screen import make_app, until
from pinfold.host.app_context import app_context
from pinfold.host.host import Host
from pinfold.tui.status_command import StatusFailed, line
from pinfold.tui.status_line import StatusLine


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
    monkeypatch.setattr("pinfold.tui.status_command.TIMEOUT", 0.2 if "sleep" in command else 60)
    with pytest.raises(StatusFailed, match=why):
        await line(command, tmp_path, {})


async def test_a_command_changes_it_at_once_and_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PINFOLD_HOME", str(tmp_path / "home"))
    context = FakeContext()
    context.host = Host(app_context(Namespace(cd=tmp_path)))  # type: ignore[assignment]
    await run(context, "/statusline printf 'mine'")
    assert context.statusline == "printf 'mine'"
    assert app_context(Namespace(cd=tmp_path)).settings.ui.statusline == "printf 'mine'"
    await run(context, "/statusline")
    assert "written by printf 'mine'" in context.told[-1]
    await run(context, "/statusline off")
    assert context.statusline == app_context(Namespace(cd=tmp_path)).settings.ui.statusline == ""


async def test_the_shell_shows_what_the_new_command_prints(tmp_path: Path) -> None:
    app = make_app(live_session(), cwd=tmp_path)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.query(StatusLine))
        app.use_statusline("printf mine")
        status = app.query_one(StatusLine)
        await until(pilot, lambda: status.own is not None and status.own.plain == "mine")
        app.use_statusline("")
        await until(pilot, lambda: status.own is None)
