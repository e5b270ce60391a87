"""The evaluation panel: what each strategy would keep of the session as it stands."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from fakes.live_session import LiveSession, live_session
from fakes.preview import make_session
from fakes.screen import make_app, until
from pinfold.evaluation.recorded_now import SHOWN
from pinfold.tui.panels.eval import EvalPanel
from pinfold.tui.panels.preview import PreviewPanel
from pinfold.tui.panels.preview_loss import LossPanel
from pinfold.tui.panels.table import Table

OURS = ["prune", "checkpoint", "layered"]
"""The strategies that need no model."""


@pytest.fixture
def session() -> LiveSession:
    return make_session()


@asynccontextmanager
async def opened(session: LiveSession, *, done: bool = True) -> AsyncIterator[Pilot[str]]:
    app = make_app(session)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.open("eval")
        await until(pilot, lambda: isinstance(app.screen, EvalPanel))
        if done:
            await until(pilot, lambda: " most: " in said(pilot))
        yield pilot


def said(pilot: Pilot[str]) -> str:
    return "\n".join(
        str(result.visual) for result in pilot.app.screen.query(".panel Static").results(Static)
    )


def drawn(pilot: Pilot[str]) -> list[str]:
    """The lines below the heads of the columns."""
    shown = pilot.app.screen.query_one(Table)
    return [shown.render_line(y).text for y in range(1, len(shown.lines))]


async def test_a_line_for_each_strategy_that_needs_no_model_with_its_figures(
    session: LiveSession,
) -> None:
    async with opened(session) as pilot:
        assert [line.strip("▎ ").split()[0] for line in drawn(pilot)] == OURS
        assert session.compaction.asked == []
        assert said(pilot).startswith("prune, checkpoint and layered keep the most: ")
        name, *shares, tokens, number, unit = drawn(pilot)[1].strip("▎ ").split()
        assert name == "checkpoint"
        assert len(shares) == len(SHOWN)
        assert all(0 <= float(share[:4]) <= 1 for share in shares if share != "–")
        assert "1.00█" in shares
        assert tokens == "3.3k"
        assert number.isdecimal()
        assert unit == "ms"


async def test_one_whose_place_another_takes_is_not_named(session: LiveSession) -> None:
    session.compaction.options = replace(session.compaction.options, target_pct=0.1)
    async with opened(session) as pilot:
        assert "layered → checkpoint" in drawn(pilot)[2]
        assert said(pilot).startswith("checkpoint keeps the most: ")


async def test_what_is_larger_than_a_compaction_aims_at_is_marked_and_not_crowned(
    session: LiveSession,
) -> None:
    session.compaction.options = replace(session.compaction.options, target_pct=0.05)
    async with opened(session) as pilot:
        assert " !" in drawn(pilot)[0]
        assert "above the target" in said(pilot)
        assert "prune" not in said(pilot).splitlines()[0]


async def test_progress_is_told_and_leaving_ends_the_work(session: LiveSession) -> None:
    session.compaction.gate = asyncio.Event()
    async with opened(session, done=False) as pilot:
        await until(pilot, lambda: "Trying prune, 1 of 3…" in said(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, EvalPanel))
        session.compaction.gate.set()
        await pilot.pause()
        assert [name for name, _ in session.compaction.drafted] == ["prune"]


def narrow(session: LiveSession) -> None:
    """Leave a window so little room that it loses something."""
    options = replace(session.compaction.options, target_pct=0.02, tail_bound=True, filled=0.1)
    session.compaction.options = options


async def test_what_it_would_lose_is_opened_and_what_is_kept_of_it_goes_into_the_preview(
    session: LiveSession,
) -> None:
    narrow(session)
    async with opened(session) as pilot:
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LossPanel))
        await until(pilot, lambda: "archive" in said(pilot))
        assert session.compaction.drafted[-1][0] == "checkpoint"
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, EvalPanel))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LossPanel))
        await until(pilot, lambda: pilot.app.screen.query_one(Table).lines)
        await pilot.press("K", "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, PreviewPanel))
        await until(pilot, lambda: session.compaction.drafted[-1][1].keep)


async def test_p_opens_the_preview_with_that_strategy(session: LiveSession) -> None:
    async with opened(session) as pilot:
        before = len(session.compaction.drafted)
        await pilot.press("p")
        await until(pilot, lambda: isinstance(pilot.app.screen, PreviewPanel))
        await until(pilot, lambda: len(session.compaction.drafted) > before)
        assert session.compaction.drafted[before][0] == "prune"


async def test_a_session_with_nothing_in_it(session: LiveSession) -> None:
    async with opened(live_session(gauge=None), done=False) as pilot:
        await until(pilot, lambda: "No strategy makes this window smaller" in said(pilot))
        await pilot.press("enter", "p", "down")
        assert all("not run" in line for line in drawn(pilot))


async def test_r_looks_again(session: LiveSession) -> None:
    async with opened(session) as pilot:
        before = len(session.compaction.drafted)
        await pilot.press("r")
        await until(pilot, lambda: len(session.compaction.drafted) == before + len(OURS))
        await until(pilot, lambda: " most: " in said(pilot))
        assert len(drawn(pilot)) == len(OURS)
