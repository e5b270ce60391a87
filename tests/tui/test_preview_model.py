"""The preview while a model writes, and what bears out what it wrote."""

from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from fakes.host import FakeHost
from fakes.live_session import LiveSession
from fakes.preview import SUMMARY, make_session, opened, said, settled
from fakes.screen import make_app, until
from pinfold.tui.panels.item import Page
from pinfold.tui.panels.preview import PreviewPanel
from pinfold.tui.panels.preview_claims import ClaimsPanel
from pinfold.tui.panels.preview_list import PreviewList
from pinfold.tui.panels.table import Table

Snap = Callable[..., bool]
SIZES = pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids="{0[0]}x{0[1]}".format)


@pytest.fixture
def session() -> LiveSession:
    made = make_session()
    made.compaction.strategy = "snapshot"
    made.compaction.answers = [SUMMARY]
    made.compaction.writing.set()
    return made


async def listed(pilot: Pilot[str]) -> Table[Any]:
    """The entries, once they are there."""
    await until(pilot, lambda: isinstance(pilot.app.screen, ClaimsPanel))
    entries = pilot.app.screen.query_one(Table)
    await until(pilot, lambda: entries.lines)
    return entries


def texts(pilot: Pilot[str]) -> str:
    """What the plan inserts."""
    shown = pilot.app.screen_stack[1].query_one(PreviewList)
    return "\n".join(row.inserted.text for row in shown.rows.values() if row.inserted)


# What bears it out


async def test_what_no_item_bears_out_is_left_out_and_told(session: LiveSession) -> None:
    async with opened(session) as pilot:
        assert "Left out, as no item confirms it: 2 entries. c shows what." in said(pilot, ".notes")
        (told,) = [line for line in said(pilot, ".notes").splitlines() if " read 96 items" in line]
        assert not told.startswith("!")
        assert "c lists 6 entries" in said(pilot, ".about")
        assert "Part 1 is done" in texts(pilot)
        assert "9999" not in texts(pilot)


async def test_the_doubtful_come_first_with_what_is_missing(session: LiveSession) -> None:
    async with opened(session, "c") as pilot:
        lines = (await listed(pilot)).lines
        assert [line.head.split() for line in lines[:3]] == [
            ["?", "decisions"],
            ["?", "files_in_scope"],
            ["✓", "task"],
        ]
        assert "decisions left out: it cites nothing; not in what it cites: 9999" in said(
            pilot, ".about"
        )
        assert "2 that no item confirms, 0 of them kept" in said(pilot, ".facts")


async def test_one_is_kept_all_the_same_and_no_model_is_asked_again(session: LiveSession) -> None:
    async with opened(session, "c") as pilot:
        entries = await listed(pilot)
        await pilot.press("K")
        await until(pilot, lambda: entries.lines[0].head.startswith("!"))
        assert "Move the server to port 9999." in texts(pilot)
        assert "1 of them kept" in said(pilot, ".facts")
        await pilot.press("K")
        await until(pilot, lambda: entries.lines[0].head.startswith("?"))
        assert "9999" not in texts(pilot)
        assert session.compaction.asked == ["snapshot"]
        await pilot.press("K")
        await until(pilot, lambda: entries.lines[0].head.startswith("!"))
        await pilot.press("escape", "a")
        await until(pilot, lambda: session.compaction.applied)
        assert "port 9999" in session.record.window.items[0].content


async def test_keeping_one_is_undone_like_any_change(session: LiveSession) -> None:
    async with opened(session, "c") as pilot:
        entries = await listed(pilot)
        await pilot.press("K")
        await until(pilot, lambda: entries.lines[0].head.startswith("!"))
        await pilot.press("escape", "z")
        await until(pilot, lambda: "9999" not in texts(pilot))
        await until(pilot, lambda: "Undone." in said(pilot, ".said"))


async def test_what_is_borne_out_can_t_be_dropped_and_its_items_can_be_read(
    session: LiveSession,
) -> None:
    async with opened(session, "c") as pilot:
        entries = await listed(pilot)
        await pilot.press("enter")  # it cites nothing
        assert isinstance(pilot.app.screen, ClaimsPanel)
        await pilot.press("end", *["down"] * 3, "K")
        assert entries.lines[3].head.startswith("✓")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen.query(Page))
        assert pilot.app.screen.query_one(Page).text == "Part 1 takes 1.5 seconds less."


async def test_a_strategy_without_entries_says_so(session: LiveSession) -> None:
    session.compaction.strategy = "checkpoint"
    async with opened(session, "c") as pilot:
        assert "checkpoint has no entries that cite items." in said(pilot, ".said")


# The steps


async def writing(pilot: Pilot[str], session: LiveSession) -> None:
    """Open the preview; the model is at work."""
    session.compaction.writing.clear()
    await until(pilot, lambda: session.approver is not None)
    pilot.app.push_screen(PreviewPanel(session, FakeHost().save_compact))
    await until(pilot, lambda: pilot.app.screen.query(PreviewList))
    await until(pilot, lambda: "−27%" in said(pilot, ".strategies"))
    await pilot.press("enter")
    await until(pilot, lambda: "50 tokens written" in said(pilot, ".said"))


async def test_the_steps_are_the_model_s_own(session: LiveSession) -> None:
    app = make_app(session)
    async with app.run_test(size=(100, 40)) as pilot:
        await writing(pilot, session)
        assert "● picking  ● grouping  ◐ summarising  ○ swapping in  ○ checking" in said(
            pilot, ".said"
        )
        assert "50 tokens written · Esc stops it" in said(pilot, ".said")
        assert "snapshot: the model is writing." in said(pilot, ".line")
        # Another strategy can be looked at meanwhile, and the model goes on.
        await pilot.press("2")
        await until(pilot, lambda: "▸ 2 checkpoint" in said(pilot, ".strategies"))
        await until(pilot, lambda: "summarising" not in said(pilot, ".said"))
        assert "→" in said(pilot, ".line")
        await pilot.press("3")
        await until(pilot, lambda: "◐ summarising" in said(pilot, ".said"))
        assert "→" not in said(pilot, ".line"), "no figures but those of the plan that is marked"
        session.compaction.writing.set()
        await settled(pilot)
        assert "Part 1 is done" in texts(pilot)
        assert session.compaction.asked == ["snapshot"]


async def test_leaving_stops_the_model(session: LiveSession) -> None:
    app = make_app(session)
    async with app.run_test(size=(100, 40)) as pilot:
        await writing(pilot, session)
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        session.compaction.writing.set()
        await pilot.pause()
        assert session.compaction.answers == [SUMMARY]
        assert not session.compaction.applied


# Pictures


@SIZES
def test_snapshot(snap_compare: Snap, session: LiveSession, size: tuple[int, int]) -> None:
    """You should see snapshot marked with its figures, a note that two entries are left out and
    by which key they are shown, and the summary inserted."""

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver is not None)
        pilot.app.push_screen(PreviewPanel(session, FakeHost().save_compact))
        await until(pilot, lambda: pilot.app.screen.query(".strategies"))
        await pilot.press("enter")
        await settled(pilot)

    assert snap_compare(make_app(session), terminal_size=size, run_before=before)


@SIZES
def test_claims(snap_compare: Snap, session: LiveSession, size: tuple[int, int]) -> None:
    """You should see six entries with the items that they cite; the first, which cites nothing, is
    kept anyway, the second is left out, and the foot says what is missing of it."""

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver is not None)
        pilot.app.push_screen(PreviewPanel(session, FakeHost().save_compact))
        await until(pilot, lambda: pilot.app.screen.query(".strategies"))
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("c")
        entries = await listed(pilot)
        await pilot.press("K")
        await until(pilot, lambda: entries.lines[0].head.startswith("!"))
        await pilot.press("down")
        await until(pilot, lambda: "absent" in said(pilot, ".about"))

    assert snap_compare(make_app(session), terminal_size=size, run_before=before)


@SIZES
def test_writing(snap_compare: Snap, session: LiveSession, size: tuple[int, int]) -> None:
    """You should see the steps of snapshot, the third under way, how much has been written, and
    above the list what it costs."""

    async def before(pilot: Pilot[str]) -> None:
        await writing(pilot, session)
        await until(pilot, lambda: "reads about" in said(pilot, ".notes"))

    assert snap_compare(make_app(session), terminal_size=size, run_before=before)
