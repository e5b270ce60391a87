"""Choosing a session to go on with."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from textual.pilot import Pilot

from fakes.host import USED, FakeHost, FakeTexts, Line
from fakes.live_session import live_session
from fakes.screen import CWD, make_app, until
from pinfold.catalog.catalog import LastExchange
from pinfold.catalog.searching import MATCH, MATCH_END
from pinfold.rollout.events import SessionStarted
from pinfold.rollout.journal import Journal
from pinfold.tui.panels.session_page import page
from pinfold.tui.panels.sessions import SessionsPanel, fitting

WORDS = Line("1", "Why does words() count empty strings?")
JSON = Line("2", "Add --json", turns=1)
ROOF = Line("3", "Mend the roof", cwd="/home/ada/house")
BARE = Line("4", "")
SAID = {
    "2": LastExchange("Add --json", "It prints one object a line."),
    "3": LastExchange("Mend", "Slates."),
}


@asynccontextmanager
async def choosing(
    *lines: Line, current: str = "", size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Pilot[str], SessionsPanel, list[str | None]]]:
    """The panel over the shell, and what was chosen."""
    session = live_session()
    host = FakeHost(lines=lines, texts=FakeTexts(SAID))
    app = make_app(session, host=host)
    chosen: list[str | None] = []
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: session.approver)
        panel = SessionsPanel(host, CWD, lambda: USED + timedelta(hours=2), current=current)
        app.push_screen(panel, chosen.append)
        await until(pilot, lambda: host.texts.filled == len(lines))
        yield pilot, panel, chosen


def shown(panel: SessionsPanel) -> list[str]:
    return [line.key for line in panel.list.lines]


def said(panel: SessionsPanel) -> str:
    return str(panel.query_one(".facts").render())


async def test_sessions_of_this_folder_come_first_and_tab_brings_all() -> None:
    async with choosing(WORDS, ROOF, JSON, BARE) as (pilot, panel, chosen):
        assert shown(panel) == ["1", "2"]
        assert said(panel) == "2 sessions of /home/ada/wc · Tab: all folders"
        await pilot.press("down", "tab")
        assert shown(panel) == ["1", "3", "2"]
        assert panel.list.current == "2"
        assert said(panel) == "3 sessions in all folders · Tab: /home/ada/wc"
        await pilot.press("up", "enter")
        assert chosen == ["3"]


async def test_where_this_folder_has_none_all_are_shown() -> None:
    async with choosing(ROOF) as (pilot, panel, chosen):
        assert shown(panel) == ["3"]
        await pilot.press("escape")
        assert chosen == [None]


async def test_the_user_s_own_session_is_left_out() -> None:
    async with choosing(WORDS, current="1") as (_, panel, _):
        assert said(panel) == "There are no earlier sessions."


async def test_a_session_that_is_open_elsewhere_is_marked() -> None:
    async with choosing(replace(WORDS, held=True), JSON) as (_, panel, _):
        assert [line.note for line in panel.list.lines] == ["open elsewhere", ""]


async def test_forks_name_what_they_were_forked_from(tmp_path: Path) -> None:
    parent, line = "019f8a7b-1c2d-7000-8000-000000000001", tmp_path / "fork"
    line.mkdir()
    forked = f"{parent}:12"
    started = SessionStarted(schema=1, id="fork", cwd="/", version="1", forked_from=forked)
    Journal.create(line, started, lambda: USED).close()
    fork = replace(WORDS, id=str(line))
    async with choosing(replace(WORDS, id=parent), fork, JSON) as (_, panel, _):
        notes = {line.key: line.note for line in panel.list.lines}
        assert notes == {parent: "", str(line): "fork of 019f8a7b-1c2d at #12", "2": ""}


async def test_what_is_typed_finds_titles_and_what_was_said() -> None:
    async with choosing(WORDS, JSON, ROOF) as (pilot, panel, chosen):
        await pilot.press(*"object")
        await until(pilot, lambda: shown(panel) == ["2"])
        assert "one object a line" in panel.list.lines[0].note
        assert MATCH not in panel.list.lines[0].note
        await pilot.press("enter")
        assert chosen == ["2"]


async def test_keys_move_through_a_long_list_and_the_mouse_takes_a_line() -> None:
    many = [Line(str(n), f"Session {n}") for n in range(2_000)]
    async with choosing(*many, size=(80, 24)) as (pilot, panel, chosen):
        await pilot.press("pagedown", "pagedown", "pageup", "down")
        height = panel.list.size.height
        assert panel.list.current == str(height)
        assert panel.list.scroll_offset.y > 0
        await pilot.press(*"1234")
        assert panel.list.current == "1234"
        await pilot.double_click(panel.list, offset=(5, 0))
        assert chosen == ["1234"]


async def test_sessions_can_not_be_read_as_markup_or_escapes() -> None:
    async with choosing(Line("1", "[red]x[/red] \x1b[2J", note="[b]torn")) as (_, panel, _):
        drawn = panel.list.render_line(0).text
        assert "[red]x[/red]" in drawn
        assert "\x1b" not in drawn


@pytest.mark.parametrize(
    ("query", "found", "keys"),
    [
        ("", {}, ["1", "2", "3"]),
        ("the", {}, ["3"]),
        ("json", {"3": "json"}, ["2", "3"]),  # titles, then text
        ("wem", {"2": "wem"}, ["2", "1"]),  # text, then letters
        ("words empty", {}, ["1"]),
        ("gone", {"9": "gone"}, []),  # of a session that is not listed
    ],
)
def test_titles_come_before_text_and_text_before_letters(
    query: str, found: dict[str, str], keys: Sequence[str]
) -> None:
    assert [line.id for line in fitting([WORDS, JSON, ROOF], query, found)] == list(keys)


def test_a_page_marks_what_was_found() -> None:
    console = Console(width=60, record=True, file=StringIO())
    piece = f"…prints one {MATCH}object{MATCH_END} a line…"
    console.print(page(JSON, SAID["2"], piece, USED))
    text = console.export_text()
    assert "prints one object a line" in text
    assert "1 turn · 31k tokens · gpt-5.2" in text
    assert "just now" in text
    assert "Last reply" in text
