"""What the context panel looks like. Pictures: `snapshots/test_context_panel_screens/`."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from fakes.context import make_session
from fakes.live_session import LiveSession
from fakes.screen import make_app, until
from pinfold.tui.panels.context import ContextPanel
from pinfold.tui.panels.context_table import ContextTable
from pinfold.tui.panels.item import Page

Snap = Callable[..., bool]
Before = Callable[[Pilot[str]], Awaitable[None]]
NOW = datetime(2026, 1, 1, 15, tzinfo=UTC)


@pytest.fixture
def session() -> LiveSession:
    return make_session()


def opening(session: LiveSession, *keys: str, said: str = "") -> Before:
    """Pin 4, mask 3, fold 6; open the panel, press `keys`, wait until its foot says `said`."""

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver is not None)
        for act, n in (("pin", 4), ("mask", 3), ("fold", 6)):
            await session.window.act(act, [n])
        pilot.app.push_screen(ContextPanel(session, now=lambda: NOW, sort="order", opened=True))
        await until(pilot, lambda: pilot.app.screen.query(ContextTable))
        await pilot.press(*keys)
        await until(pilot, lambda: any(said in str(widget.visual) for widget in foot(pilot)))

    return before


def foot(pilot: Pilot[str]) -> list[Static]:
    return list(pilot.app.screen.query("Footer Static").results(Static))


DOWN = ["down"] * 6


@pytest.mark.parametrize(
    "size", [(160, 50), (120, 40), (80, 24), (40, 24)], ids="{0[0]}x{0[1]}".format
)
def test_panel(snap_compare: Snap, session: LiveSession, size: tuple[int, int]) -> None:
    """You should see the gauge, then instructions, AGENTS.md, environment and a tool, then nine
    items; #3 masked (half a disc), #4 and #5 pinned (a full one), #6 and #7 folded (a ring). The
    cursor is on #3, and below it stands what pinning, folding and unfolding would do, and why the
    rest can't be done. At 120 columns files and shares in figures; at 40 numbers, signs, words and
    tokens."""
    before = opening(session, *DOWN, said="unfold +")
    assert snap_compare(make_app(session), terminal_size=size, run_before=before)


def test_selection(snap_compare: Snap, session: LiveSession) -> None:
    """You should see the largest rows first, "tokens" marked as what sorts, three of them ticked
    and tinted, and what masking them would free."""
    before = opening(session, "s", "shift+down", "shift+down", said="unfold +172")
    assert snap_compare(make_app(session), terminal_size=(100, 24), run_before=before)


def test_filter(snap_compare: Snap, session: LiveSession) -> None:
    """You should see a line to type in, the tool shell, its call and result, and how many fit."""
    before = opening(session, "slash", *"shell", said="tool shell")
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)


def test_done(snap_compare: Snap, session: LiveSession) -> None:
    """You should read that #2 and #3 were folded, what that freed, and that z undoes it."""
    before = opening(session, *DOWN, "f", said="unfold +193")
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)


def test_no_color(
    snap_compare: Snap, session: LiveSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """You should see no colour: letters for kinds, a bar at the cursor, ticks at the selection."""
    monkeypatch.setenv("NO_COLOR", "1")
    before = opening(session, *DOWN, "shift+down", said="unfold +179")
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)


def test_item(snap_compare: Snap, session: LiveSession) -> None:
    """You should see the call #2 with its path and, below it, its result, ready to scroll."""

    async def before(pilot: Pilot[str]) -> None:
        await opening(session, *DOWN, said="unfold +")(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen.query(Page))

    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)
