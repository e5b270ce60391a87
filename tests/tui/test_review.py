"""A compaction that waits for the user's word leaves the keys to the prompt."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from fakes.live_session import LiveSession
from fakes.preview import make_session, settled
from fakes.screen import make_app, until
from pinfold.agent.compaction.trigger import CompactionTrigger
from pinfold.tui.panels.preview import PreviewPanel
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.review import ReviewCard
from pinfold.tui.status_line import StatusLine

TRIGGER = CompactionTrigger("threshold", "mid_turn", blocking=True)


@asynccontextmanager
async def asked(
    session: LiveSession, **changes: object
) -> AsyncIterator[tuple[Pilot[str], "asyncio.Task[bool]"]]:
    """In mid-turn, the window has passed its threshold."""
    app = make_app(session, **changes)  # type: ignore[arg-type]
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: session.approver)
        session.enter("approval")
        await pilot.press(*"dr")
        assert session.reviewer is not None
        task = asyncio.ensure_future(session.reviewer(TRIGGER))
        await until(pilot, lambda: list(app.screen.query(ReviewCard)))
        yield pilot, task


def editor(pilot: Pilot[str]) -> Editor:
    return pilot.app.screen_stack[0].query_one(Editor)


async def test_letters_go_on_into_the_prompt() -> None:
    session = make_session()
    async with asked(session) as (pilot, task):
        await pilot.press(*"aft", "enter", "a")  # `a` and Enter are keys of the preview
        assert [prompt.text for prompt in session.queue] == ["draft"]
        assert editor(pilot).text == "a"
        assert len(pilot.app.screen_stack) == 1
        assert not session.compaction.applied
        assert "waiting for approval" in pilot.app.screen.query_one(StatusLine).render().plain
        task.cancel()
        await until(pilot, lambda: not pilot.app.screen.query(ReviewCard))


@pytest.mark.parametrize("way", ["key", "click", "from the transcript"])
async def test_the_preview_opens_by_the_users_own_key(way: str) -> None:
    session = make_session()
    async with asked(session) as (pilot, task):
        if way == "click":
            await pilot.click(ReviewCard)
        elif way == "key":
            await pilot.press("f6")
        else:
            pilot.app.screen.query_one("Transcript").focus()
            await pilot.press("f6")
        await until(pilot, lambda: isinstance(pilot.app.screen, PreviewPanel))
        await settled(pilot)
        await pilot.press("a")
        assert await task
        assert session.compaction.applied
        assert editor(pilot).text == "dr"
        await until(pilot, lambda: not pilot.app.screen.query(ReviewCard))


async def test_leaving_the_preview_leaves_the_window() -> None:
    session = make_session()
    async with asked(session) as (pilot, task):
        await pilot.press("f6")
        await until(pilot, lambda: isinstance(pilot.app.screen, PreviewPanel))
        await pilot.press("escape")
        assert not await task
        assert not session.compaction.applied


async def test_an_interrupted_turn_takes_its_question_along() -> None:
    session = make_session()
    async with asked(session) as (pilot, task):
        await pilot.press("ctrl+c")
        assert session.interrupts == 1
        task.cancel()  # as the session does
        await until(pilot, lambda: not pilot.app.screen.query(ReviewCard))
        await pilot.press(*"aft")
        assert editor(pilot).text == "draft"


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_between_turns_it_can_be_left(key: str) -> None:
    """As where the user takes a smaller model."""
    session = make_session()
    async with asked(session) as (pilot, task):
        session.enter("idle")
        await pilot.press(key)
        assert not await task
        assert not session.interrupts
        assert editor(pilot).text == "dr"


def test_review_card(snap_compare: Callable[..., bool]) -> None:
    """You should see, above the prompt, that the window passed its threshold, and which key opens
    the preview; “draft” is being typed below it."""
    session = make_session()
    app = make_app(session, keys={"switch_focus": "f9"})

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver)
        session.enter("approval")
        assert session.reviewer is not None
        tasks.append(asyncio.ensure_future(session.reviewer(TRIGGER)))
        await until(pilot, lambda: list(app.screen.query(ReviewCard)))
        await pilot.press(*"draft")

    tasks: list[asyncio.Task[bool]] = []
    assert snap_compare(app, terminal_size=(80, 24), run_before=before)
