"""Compactions as the screen tells of them. Pictures: `snapshots/test_compacting_screens/`."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from fakes.agent import Stage, stage
from fakes.preview import SUMMARY, make_session
from fakes.provider import Step, says
from fakes.screen import make_app, until
from fakes.transcripts import shown
from pinfold.agent.options import Options
from pinfold.compaction.view import PlanOptions
from pinfold.ports.provider import ModelInfo, TextDelta
from pinfold.rollout.values import Usage
from pinfold.tokens.prices import Price
from pinfold.tui.app import PinfoldApp
from pinfold.tui.panels.preview import PreviewPanel
from pinfold.tui.review import ReviewCard
from pinfold.tui.status_line import StatusLine
from pinfold.tui.transcript.view import Transcript

Snap = Callable[..., bool]
LARGE = ModelInfo("large", "scripted", 60_000, "config", 2_000)
SMALL = ModelInfo("small", "scripted", 8_192, "config", 1_000)
OPTIONS = Options(compact=PlanOptions(max_tail_messages=4, min_headroom_tokens=500))


async def worked(root: Path) -> Stage:
    """A window that no small model takes."""
    script = [says(f"Part {turn} says: " + f"word {turn} and more " * 400) for turn in range(8)]
    at = await stage(root, script, options=OPTIONS, model=LARGE, others=[SMALL])
    for turn in range(8):
        at.session.send(f"read part {turn}")
        await at.session.idle()
    return at


def status(app: PinfoldApp) -> str:
    return str(app.screen_stack[0].query_one(StatusLine).render())


def transcript(app: PinfoldApp) -> str:
    return "\n".join(shown(app.screen_stack[0].query_one(Transcript)))


def words(app: PinfoldApp) -> str:
    """The transcript, wherever its lines break."""
    return " ".join(transcript(app).split())


@pytest.mark.parametrize("width", [120, 80])
async def test_the_status_line_has_the_model_s_steps_and_esc_stops_it(
    tmp_path: Path, width: int
) -> None:
    at = await worked(tmp_path)
    writing: list[Step] = [TextDelta("{")] * 60
    at.provider.summaries = [[*writing, asyncio.Event()]]
    used = at.session.reading().used
    app = make_app(at.session)  # type: ignore[arg-type]
    async with app.run_test(size=(width, 24)) as pilot:
        await until(pilot, lambda: app._session is not None)
        await pilot.press(*"/compact --strategy snapshot", "enter")
        await until(pilot, lambda: "snapshot: summarising, 50 tok" in status(app))
        assert status(app).endswith("· Esc interrupts")
        assert len(status(app)) <= width
        await pilot.press("escape")
        await until(pilot, lambda: "Interrupted: the window is unchanged." in words(app))
        assert "snapshot" not in status(app)
    assert at.session.reading().used == used
    assert at.provider.cut_off == 1


async def test_a_smaller_model_is_taken_once_the_preview_has_made_room(tmp_path: Path) -> None:
    at = await worked(tmp_path)
    app = make_app(at.session)  # type: ignore[arg-type]
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: app._session is not None)
        await pilot.press(*"/model small", "enter")
        await until(pilot, lambda: app.screen.query(ReviewCard))
        assert "It does not fit small: " in str(app.screen.query_one(ReviewCard).visual)
        await pilot.press("f6")
        await until(pilot, lambda: isinstance(app.screen, PreviewPanel))
        await until(pilot, lambda: app.screen.query(".notes") and app.screen._draft is not None)  # type: ignore[attr-defined]
        assert "small takes" in str(app.screen.query_one(".why", Static).visual)
        await pilot.press("a")
        await until(pilot, lambda: "Model: small from scripted." in transcript(app))
    assert at.session.model == SMALL
    assert at.session.reading().used < at.session.reading().usable


@pytest.mark.parametrize("seen", [False, True])
async def test_leaving_the_preview_stays_on_the_old_model_and_says_so(
    tmp_path: Path, seen: bool
) -> None:
    at = await worked(tmp_path)
    app = make_app(at.session)  # type: ignore[arg-type]
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: app._session is not None)
        await pilot.press(*"/model small", "enter")
        await until(pilot, lambda: app.screen.query(ReviewCard))
        if seen:
            await pilot.press("f6")
            await until(pilot, lambda: isinstance(app.screen, PreviewPanel))
        await pilot.press("escape")
        await until(pilot, lambda: "Still on large; /compact makes room." in words(app))
        assert "large · scripted" in status(app)
    assert at.session.model == LARGE
    assert at.session.window.generations[-1].generation == 0


# Pictures


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids="{0[0]}x{0[1]}".format)
def test_compare(snap_compare: Snap, size: tuple[int, int]) -> None:
    """You should see a line for each strategy under a head: its tokens, how many of the user's
    words, replies, failures and commands it would lose, and what its model cost; no line wraps."""
    session = make_session(options=Options(prices={"small": Price(5, 16)}))
    session.compaction.answers = [SUMMARY]
    session.compaction.summary = "Part 3 is faster; the limit is 8003."
    session.compaction.spent = Usage(input=6_700, output=410)

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver is not None)
        await pilot.press(*"/compact --compare", "enter")
        app = pilot.app
        assert isinstance(app, PinfoldApp)
        await until(pilot, lambda: "commands     cost" in transcript(app))

    assert snap_compare(make_app(session), terminal_size=size, run_before=before)
