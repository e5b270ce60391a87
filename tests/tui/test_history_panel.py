"""The history panel: looks into earlier windows, compares, restores, keeps, forks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from fakes.compactions import working
from fakes.host import FakeHost
from fakes.live_session import LiveSession
from fakes.pasts import SUMMARY, make_past, replaced
from fakes.screen import make_app, until
from pinfold.agent.compaction.applying import SEE_LOST
from pinfold.agent.updates import Told
from pinfold.numbers import tokens
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item
from pinfold.tui.panels.history import HistoryPanel
from pinfold.tui.panels.history_items import ItemsPanel
from pinfold.tui.panels.history_list import HistoryList
from pinfold.tui.panels.item import Page
from pinfold.tui.panels.lost import LostPanel
from pinfold.tui.panels.table import Table
from pinfold.tui.transcript.view import Transcript

NEWEST, MIDDLE, FIRST = 0, 1, 2
"""Lines of the panel, from the top."""


@pytest.fixture
def session() -> LiveSession:
    return make_past()


@asynccontextmanager
async def opened(
    session: LiveSession, *keys: str, host: FakeHost | None = None, panel: str = "history"
) -> AsyncIterator[Pilot[str]]:
    """The panel of `session`; `keys` are pressed."""
    app = make_app(session, host=host)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.open(panel, "2")  # type: ignore[arg-type]
        await until(pilot, lambda: app.screen.query(Table))
        await until(pilot, lambda: listed(pilot).lines)
        await pilot.press(*keys)
        yield pilot


def said(pilot: Pilot[str], selector: str) -> str:
    return "\n".join(
        str(result.visual) for result in pilot.app.screen.query(selector).results(Static)
    )


def listed(pilot: Pilot[str]) -> Table[Any]:
    return pilot.app.screen.query_one(Table)


def drawn(pilot: Pilot[str]) -> list[str]:
    shown = listed(pilot)
    return [shown.render_line(y).text for y in range(len(shown.lines))]


async def shows(pilot: Pilot[str], panel: type[object]) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, panel))
    await until(pilot, lambda: listed(pilot).lines)


async def test_a_line_for_each_window_the_newest_first(session: LiveSession) -> None:
    async with opened(session) as pilot:
        newest, middle, first = drawn(pilot)
        assert newest.split()[:5] == ["▎2", "●", "compacted", "by", "prune"]
        assert "1.7k → 900" in newest
        assert "9 items" in newest
        assert "compacted by checkpoint at the" in middle
        assert "4k → 900" in middle
        assert "17 items" in middle
        assert "0   the first" in first
        assert "→" not in first


async def test_the_foot_tells_beforehand_what_a_restore_comes_to(session: LiveSession) -> None:
    async with opened(session, "end") as pilot:
        await until(pilot, lambda: "Restored" in said(pilot, ".about"))
        effect = said(pilot, ".about").splitlines()[-1]
        outlook = await session.window.outlook(0)
        assert effect.startswith(f"Restored, with everything since: {outlook.items} items, ")
        assert "more than fit" not in effect
        await pilot.press("home")
        await until(pilot, lambda: "window 2 (now)" in said(pilot, ".about"))
        assert "Restored" not in said(pilot, ".about")


async def test_what_would_not_fit_is_warned_of(session: LiveSession) -> None:
    session.model = type(session.model)("tiny", "p", 1_000, "table", max_output=200)
    async with opened(session, "end") as pilot:
        await until(pilot, lambda: "more than fit" in said(pilot, ".about"))
        assert ", ! " in said(pilot, ".about")
        await pilot.press("r")
        outlook = tokens((await session.window.outlook(0)).after)
        asked = f"With everything since, it takes {outlook} of 1k tokens, more than fit: r again"
        await until(pilot, lambda: asked in " ".join(said(pilot, ".said").split()))
        assert session.record.window.generation == 2
        await pilot.press("up", "down", "r")
        await pilot.pause()
        assert session.record.window.generation == 2, "asked again"
        await pilot.press("r")
        await until(pilot, lambda: "Window 0 is restored" in said(pilot, ".said"))


async def test_a_window_is_looked_into_item_by_item(session: LiveSession) -> None:
    async with opened(session, "down", "enter") as pilot:
        await shows(pilot, ItemsPanel)
        assert len(listed(pilot).lines) == 17
        assert "checkpoint" in listed(pilot).lines[0].head
        assert "compacted by checkpoint at the threshold" in said(pilot, ".facts")
        await pilot.press(*"edit", "enter")
        await until(pilot, lambda: pilot.app.screen.query(Page))
        assert pilot.app.screen.query_one(Page).text == "path: src/part_5.py"
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, HistoryPanel))


async def test_two_windows_are_compared_the_older_first(session: LiveSession) -> None:
    async with opened(session, "d", "down", "d") as pilot:
        await shows(pilot, ItemsPanel)
        lines = {int(line.key): line.head[0] for line in listed(pilot).lines}
        assert lines == dict.fromkeys(range(33, 41), "−")
        assert said(pilot, ".facts") == "8 removed; 0 added; 0 changed"


async def test_a_mark_is_shown_and_dropped_before_the_panel_is_left(session: LiveSession) -> None:
    async with opened(session, "down", "d") as pilot:
        assert "1 ◆" in drawn(pilot)[MIDDLE]
        assert "Marked window 1" in said(pilot, ".said")
        await pilot.press("escape")
        assert "◆" not in drawn(pilot)[MIDDLE]
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, HistoryPanel))


async def test_a_window_is_restored_and_that_undone(session: LiveSession) -> None:
    before = session.record.window.forms
    async with opened(session, "end", "r") as pilot:
        await until(pilot, lambda: "Window 0 is restored" in said(pilot, ".said"))
        assert set(range(1, 41)) <= set(session.record.window.forms)
        assert "3 ● earlier window restored" in drawn(pilot)[NEWEST]
        assert listed(pilot).current == "0"
        await pilot.press("z")
        await until(pilot, lambda: "Undone: the restore." in said(pilot, ".said"))
        assert session.record.window.forms == before


async def test_nothing_is_restored_or_forked_while_a_turn_runs(session: LiveSession) -> None:
    async with opened(session, "end") as pilot:
        session.enter("streaming")
        for key in ("r", "f"):
            await pilot.press(key)
            await until(pilot, lambda: "A turn is running" in said(pilot, ".said"))
        assert isinstance(pilot.app.screen, HistoryPanel)
        assert session.record.window.generation == 2


async def test_a_fork_goes_on_from_any_window(session: LiveSession) -> None:
    host = FakeHost()
    async with opened(session, "down", "f", host=host) as pilot:
        await until(pilot, lambda: host.opened)
        assert host.opened == ["fork window 1"]
        await until(pilot, lambda: pilot.app.session is host.made[0])  # type: ignore[attr-defined]


async def test_it_follows_the_session(session: LiveSession) -> None:
    async with opened(session, "end") as pilot:
        session.append(Item(n=50, kind="user", content="more"))
        await until(pilot, lambda: "10 items" in drawn(pilot)[NEWEST])
        session.append(replaced(session.record.window, "overflow", "checkpoint", range(42, 50)))
        await until(pilot, lambda: len(listed(pilot).lines) == 4)
        assert isinstance(listed(pilot), HistoryList)
        assert listed(pilot).current == "0"


# What was lost


async def test_what_a_compaction_lost_is_kept_after_all(session: LiveSession) -> None:
    async with opened(session, "down", "l") as pilot:
        await shows(pilot, LostPanel)
        told = "\n".join(f"{line.text} {line.note}" for line in listed(pilot).lines)
        assert "Part 2 takes 2.5 seconds less." in told
        assert "Keep port 8003." in told
        await pilot.press("r")
        await until(pilot, lambda: "Restored #" in said(pilot, ".said"))
        back = listed(pilot).lines[0]
        n = int(back.key.removeprefix("#"))
        assert back.head == f"✓ #{n}"
        assert back.text.endswith(" tokens: kept")
        assert session.record.window.form(n) == "full"
        await pilot.press("r")
        await until(pilot, lambda: f"✗ #{n} is in the window." in said(pilot, ".said"))
        await pilot.press("z")
        await until(pilot, lambda: "Undone: the restore of" in said(pilot, ".said"))
        assert listed(pilot).lines[0].head.startswith("−")
        assert session.record.window.form(n) is None


async def test_what_was_lost_stands_with_the_item_that_said_it() -> None:
    session = make_past(twice=False)
    session.append(Item(n=50, kind="user", content="Use port 9101.\nAnd port 9102."))
    session.append(Item(n=51, kind="user", content="And 9103."))
    session.append(replaced(session.record.window, "overflow", "checkpoint", range(50, 52)))
    async with opened(session, panel="lost") as pilot:
        behind, below, one, other = listed(pilot).lines
        assert below.head == "− #50"
        assert below.text.startswith("your message, 2 lines, ")
        assert below.text.endswith(" tokens: archived")
        assert [lost.text for lost in (one, other)] == ["Use port 9101.", "And port 9102."]
        assert (behind.head, behind.note) == ("− #51", "your words And 9103.")
        await pilot.press("down", "down", "r")
        await until(pilot, lambda: listed(pilot).lines[1].head == "✓ #50")


async def test_what_is_kept_although_it_does_not_fit_is_warned_of(session: LiveSession) -> None:
    session.model = type(session.model)("tiny", "p", 400, "table", max_output=100)
    async with opened(session, "r", panel="lost") as pilot:
        await until(pilot, lambda: "more than fit" in said(pilot, ".said"))
        assert said(pilot, ".said").startswith("! Restored")


async def test_a_lost_thing_is_read_in_its_item(session: LiveSession) -> None:
    async with opened(session, "enter", panel="lost") as pilot:
        await until(pilot, lambda: pilot.app.screen.query(Page))
        assert "part" in pilot.app.screen.query_one(Page).text.lower()


async def test_the_first_window_has_lost_nothing_and_the_last_is_not_restored(
    session: LiveSession,
) -> None:
    async with opened(session, "r") as pilot:
        await until(pilot, lambda: "✗ There is no earlier window 2." in said(pilot, ".said"))
        await pilot.press("end", "l")
        await until(pilot, lambda: "nothing was lost" in said(pilot, ".said"))
        assert isinstance(pilot.app.screen, HistoryPanel)


async def test_where_all_still_stands_that_is_said() -> None:
    session = make_past(twice=False)
    for data in working(1, first=42):
        session.append(data.item if isinstance(data, ItemAdded) else data)
    session.append(replaced(session.record.window, "manual", "prune", range(41, 42)))
    session.append(Item(n=50, kind="assistant", content=SUMMARY))
    app = make_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.open("lost", "2")
        await until(pilot, lambda: "No message, edit or command" in said(pilot, ".facts"))


async def test_the_completion_leads_to_what_was_lost(session: LiveSession) -> None:
    app = make_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        session.tell(Told("Compaction complete: 4k → 900 tokens", hint=SEE_LOST))
        transcript = app.screen.query_one(Transcript)
        transcript.flush()
        drawn = [transcript.render_line(y).text for y in range(transcript.size.height)]
        text = " ".join(" ".join(drawn).split())
        assert "4k → 900 tokens · /lost shows what was lost" in text
        await pilot.press(*"/lost", "enter")
        await shows(pilot, LostPanel)
        assert "window 2" in str(app.screen.query_one(".panel").border_title)
