"""What the history looks like. Pictures: `snapshots/test_history_panel_screens/`."""

import time
from collections.abc import Awaitable, Callable, Iterator

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from fakes.live_session import LiveSession
from fakes.pasts import make_past
from fakes.screen import make_app, until
from pinfold.tui.panels.history_items import ItemsPanel
from pinfold.tui.panels.lost import LostPanel
from pinfold.tui.panels.table import Table

Snap = Callable[..., bool]
Before = Callable[[Pilot[str]], Awaitable[None]]
SIZES = pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids="{0[0]}x{0[1]}".format)


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def session() -> LiveSession:
    return make_past()


def opening(session: LiveSession, *keys: str, then: Callable[[Pilot[str]], object]) -> Before:
    """Open the history, press `keys`, wait for `then`."""

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver is not None)
        pilot.app.open("history")  # type: ignore[attr-defined]
        await until(pilot, lambda: pilot.app.screen.query(Table) and lines(pilot))
        await pilot.press(*keys)
        await until(pilot, lambda: then(pilot))

    return before


def lines(pilot: Pilot[str]) -> object:
    return pilot.app.screen.query_one(Table).lines


def said(pilot: Pilot[str], selector: str) -> str:
    return "\n".join(
        str(result.visual) for result in pilot.app.screen.query(selector).results(Static)
    )


def on(panel: type[object]) -> Callable[[Pilot[str]], object]:
    return lambda pilot: isinstance(pilot.app.screen, panel) and lines(pilot)


@SIZES
def test_windows(snap_compare: Snap, session: LiveSession, size: tuple[int, int]) -> None:
    """You should see three windows, the one of now on top with a dot; why each was made, what it
    came to, its items and since when. Window 2 is marked with a lozenge; the foot tells what a
    restore of window 1 would come to. With 120 columns the transcript stays in view."""
    before = opening(session, "d", "down", then=lambda p: "Restored" in said(p, ".about"))
    assert snap_compare(make_app(session), terminal_size=size, run_before=before)


def test_narrow(snap_compare: Snap, session: LiveSession) -> None:
    """You should see no frame, and of each window its number, why and what it came to."""
    before = opening(session, "end", then=lambda p: "Restored" in said(p, ".about"))
    assert snap_compare(make_app(session), terminal_size=(40, 20), run_before=before)


def test_restored(snap_compare: Snap, session: LiveSession) -> None:
    """You should read, once r is pressed twice, that window 0 is back, that it does not fit by how
    much, and how to undo it; a fourth line stands on top."""
    session.model = type(session.model)("tiny", "p", 2_000, "table", max_output=400)
    before = opening(session, "end", "r", "r", then=lambda p: "3.4k → 3.4k" in said(p, ".about"))
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)


@SIZES
def test_items(snap_compare: Snap, session: LiveSession, size: tuple[int, int]) -> None:
    """You should see the 17 items of window 1, its checkpoint first, above them what it came to.
    With 120 columns the item under the cursor stands beside them."""
    before = opening(session, "down", "enter", then=on(ItemsPanel))
    assert snap_compare(make_app(session), terminal_size=size, run_before=before)


def test_difference(snap_compare: Snap, session: LiveSession) -> None:
    """You should see eight items with a minus: they went between window 1 and window 2."""
    before = opening(session, "d", "down", "d", then=on(ItemsPanel))
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)


@SIZES
def test_lost(snap_compare: Snap, session: LiveSession, size: tuple[int, int]) -> None:
    """You should see items that no longer stand in window 1, each with its size and the names or
    numbers that went with it; the first is items restored, as its tick and the foot say."""

    async def before(pilot: Pilot[str]) -> None:
        await opening(session, "down", "l", then=on(LostPanel))(pilot)
        await pilot.press("r")
        await until(pilot, lambda: "Restored" in said(pilot, ".said"))

    assert snap_compare(make_app(session), terminal_size=size, run_before=before)


def test_no_color(
    snap_compare: Snap, session: LiveSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """You should see no colour: the window of now by its dot, the cursor by a bar."""
    monkeypatch.setenv("NO_COLOR", "1")
    before = opening(session, "down", then=lambda p: "Restored" in said(p, ".about"))
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)
