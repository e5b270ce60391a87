"""What the checkpoint panel looks like. Pictures: `snapshots/test_checkpoint_panel_screens/`."""

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from fakes.live_session import LiveSession
from fakes.pasts import make_remembering
from fakes.screen import make_app, until
from pinfold.tui.panels.checkpoint_list import CheckpointList

Snap = Callable[..., bool]
Before = Callable[[Pilot[str]], Awaitable[None]]


@pytest.fixture
def session() -> LiveSession:
    return make_remembering()


def opening(session: LiveSession, *keys: str, at: str = "") -> Before:
    """Open the panel, go to the line `at`, press `keys`."""

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver is not None)
        pilot.app.open("checkpoint")  # type: ignore[attr-defined]
        await until(pilot, lambda: pilot.app.screen.query(CheckpointList) and rows(pilot))
        if at:
            await until(pilot, lambda: rows(pilot)[at])
            shown = pilot.app.screen.query_one(CheckpointList)
            shown.move(list(rows(pilot)).index(at) - list(rows(pilot)).index(str(shown.current)))
        await pilot.press(*keys)

    return before


def rows(pilot: Pilot[str]) -> dict[str, object]:
    return dict(pilot.app.screen.query_one(CheckpointList).rows)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 20)], ids="{0[0]}x{0[1]}".format)
def test_checkpoint(snap_compare: Snap, session: LiveSession, size: tuple[int, int]) -> None:
    """You should see task, plan (one step with a tick), recent artifacts (commands behind a $),
    decisions, facts that hold, the number of its item at the right of each line. With 120 columns
    the whole of it, the ledger included, beside the transcript; with 40 no frame."""
    assert snap_compare(make_app(session), terminal_size=size, run_before=opening(session))


def test_suspect(snap_compare: Snap, session: LiveSession) -> None:
    """You should see two facts behind an exclamation mark, and why each is suspect; in full at
    the foot, for the one under the cursor."""
    before = opening(session, at="fact/auth.bug")
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)


def test_filter(snap_compare: Snap, session: LiveSession) -> None:
    """You should see the lines alone that hold “auth”, under their headings."""
    before = opening(session, "slash", *"auth", "enter")
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)


def test_no_color(
    snap_compare: Snap, session: LiveSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """You should see no colour: suspect facts by their sign, the cursor by a bar."""
    monkeypatch.setenv("NO_COLOR", "1")
    before = opening(session, at="fact/tests.state")
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)
