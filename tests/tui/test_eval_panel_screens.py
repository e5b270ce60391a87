"""What the evaluation looks like. Pictures: `snapshots/test_eval_panel_screens/`."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from textual.pilot import Pilot

from fakes.live_session import LiveSession
from fakes.preview import make_session
from fakes.screen import make_app, until
from pinfold.tui.panels.preview_loss import LossPanel
from pinfold.tui.panels.table import Table

Snap = Callable[..., bool]
Before = Callable[[Pilot[str]], Awaitable[None]]
SIZES = pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids="{0[0]}x{0[1]}".format)


def opening(session: LiveSession, *keys: str, then: Callable[[Pilot[str]], object]) -> Before:
    """Open the evaluation, press `keys` when all strategies are tried, wait for `then`."""

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver is not None)
        pilot.app.open("eval")  # type: ignore[attr-defined]
        await until(pilot, lambda: len(lines(pilot)) == 3)
        await pilot.press(*keys)
        await until(pilot, lambda: then(pilot))

    return before


def lines(pilot: Pilot[str]) -> list[object]:
    found = pilot.app.screen.query(Table)
    return found.first().items if found else []


@SIZES
def test_evaluation(snap_compare: Snap, size: tuple[int, int]) -> None:
    """A line for prune, checkpoint and layered below the heads of nine columns; `checkpoint` is
    chosen, its shares stand in words at the foot. What stays below 0.80 has a `!`."""
    session = make_session(24)
    before = opening(session, "down", then=lines)
    assert snap_compare(make_app(session), terminal_size=size, run_before=before)


def test_narrow(snap_compare: Snap) -> None:
    """Forty-eight columns: what matters least gives way to names and shares."""
    session = make_session(24)
    assert snap_compare(
        make_app(session), terminal_size=(48, 20), run_before=opening(session, then=lines)
    )


def test_what_it_would_lose(snap_compare: Snap) -> None:
    """The losses of `checkpoint` above the evaluation, with the numbers of their items."""
    session = make_session(24)
    narrow = replace(session.compaction.options, target_pct=0.02, tail_bound=True, filled=0.1)
    session.compaction.options = narrow
    before = opening(
        session,
        "down",
        "enter",
        then=lambda pilot: isinstance(pilot.app.screen, LossPanel) and lines(pilot),
    )
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)
