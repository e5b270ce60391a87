"""Who gets the keys: the prompt, or the transcript that one reads in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.pilot import Pilot

from fakes.live_session import LiveSession, live_session
from fakes.screen import make_app, type_fast, until
from pinfold.agent.updates import Streamed
from pinfold.ports.provider import Progress, TextDelta
from pinfold.rollout.items import Item
from pinfold.tui.find import FindBar
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.status_line import StatusLine
from pinfold.tui.transcript.view import Transcript


def make_session() -> LiveSession:
    made = live_session()
    for n in range(1, 60):
        made.append(Item(n=n, kind="assistant", content=f"reply {n}"))
    return made


@asynccontextmanager
async def running(session: LiveSession, width: int = 80) -> AsyncIterator[Pilot[str]]:
    async with make_app(session).run_test(size=(width, 24)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        await until(pilot, lambda: transcript(pilot).max_scroll_y)
        yield pilot


def editor(pilot: Pilot[str]) -> Editor:
    return pilot.app.screen.query_one(Editor)


def transcript(pilot: Pilot[str]) -> Transcript:
    return pilot.app.screen.query_one(Transcript)


def status(pilot: Pilot[str]) -> str:
    return pilot.app.screen.query_one(StatusLine).render().plain


async def test_tab_never_leaves_the_prompt() -> None:
    async with running(make_session()) as pilot:
        await pilot.press("tab", "a", "tab")
        assert pilot.app.focused is editor(pilot)
        assert editor(pilot).text == "a"


async def test_a_click_leaves_the_keys_with_the_prompt() -> None:
    async with running(make_session()) as pilot:
        rows = [transcript(pilot).render_line(y).text for y in range(10)]
        row = next(y for y, text in enumerate(rows) if "reply" in text)
        await pilot.click(Transcript, offset=(10, row))
        assert transcript(pilot).current is not None
        await pilot.press(*"make")
        assert editor(pilot).text == "make"


@pytest.mark.parametrize("text", ["make it fast", "/context", "pin that", " so", "n"])
async def test_while_no_item_has_the_cursor_what_one_types_goes_to_the_prompt(text: str) -> None:
    session = make_session()
    async with running(session) as pilot:
        await pilot.press("f6")
        type_fast(pilot, *text)
        await until(pilot, lambda: editor(pilot).text == text)
        assert pilot.app.focused is editor(pilot)
        assert not pilot.app.screen.query_one(FindBar).display


async def test_letters_act_on_the_item_that_has_the_cursor() -> None:
    session = make_session()
    async with running(session) as pilot:
        await pilot.press("f6", "up", "f")
        await until(pilot, lambda: session.window.form(59) == "placeholder")
        assert editor(pilot).text == ""
        type_fast(pilot, *"all of it")
        await until(pilot, lambda: editor(pilot).text == "all of it")
        assert session.window.form(59) == "placeholder"


async def test_a_paste_goes_to_the_prompt() -> None:
    async with running(make_session()) as pilot:
        await pilot.press("f6", "up")
        pilot.app.post_message(events.Paste("fold all"))
        await until(pilot, lambda: editor(pilot).text == "fold all")


async def test_escape_goes_back_to_the_prompt_at_once() -> None:
    session = make_session()
    async with running(session) as pilot:
        session.enter("streaming")
        await pilot.press("f6", "up")
        type_fast(pilot, "escape", *"make")
        await until(pilot, lambda: editor(pilot).text == "make")
        assert pilot.app.focused is editor(pilot)
        assert session.interrupts < 1
        await pilot.press("escape")
        assert session.interrupts == 1


async def test_escape_from_the_transcript_takes_the_find_bar_along() -> None:
    async with running(make_session()) as pilot:
        await pilot.press("f6", "up", "slash", *"reply 3", "enter", "escape", "n", "escape")
        assert pilot.app.focused is editor(pilot)
        assert not pilot.app.screen.query_one(FindBar).display


@pytest.mark.parametrize("width", [30, 40, 80, 120])
async def test_at_every_width_one_sees_that_the_transcript_has_the_keys(width: int) -> None:
    session = make_session()
    async with running(session, width) as pilot:
        await pilot.press("x", "ctrl+c")
        assert "TRANSCRIPT" not in status(pilot)
        for keys in (["f6"], ["up"]):
            await pilot.press(*keys)
            assert status(pilot).startswith("TRANSCRIPT")
            assert status(pilot).endswith("Esc closes")
        session.enter("tools")
        assert status(pilot).startswith("TRANSCRIPT")
        assert status(pilot).endswith("Esc closes")


async def test_the_status_line_drops_what_is_worth_least() -> None:
    async with running(make_session(), 80) as pilot:
        line = pilot.app.screen.query_one(StatusLine)
        line.model, line.folder, line.branch = "fake-model · mine", "~/code/f", "main"
        line.approvals = "read-only"
        assert line.render().plain.split("  ")[0] == "fake-model · mine · f · main · read-only"
        assert line.render().plain.endswith("  ? shortcuts · / commands · F1 help")
        line.branch = "a-branch-with-a-name"
        assert line.render().plain.endswith(
            "a-branch-with-a-name · read-only" + " " * 13 + "F1 help"
        )
        line.branch = "a-branch-with-a-name-as-long-as-a-sentence"
        assert line.render().plain.rstrip() == "fake-model · mine · " + line.branch + " · read-only"
        line.phase = "tools"
        assert line.render().plain.startswith("fake-model · mine · read-only   ")
        assert line.render().plain.endswith("working 0s · Esc interrupts")
        line.model = "a-model-with-a-name-that-is-too-long-for-most"
        assert line.render().plain.startswith(f"{line.model} · read-only   ")
        assert line.render().plain.endswith("   0s · Esc")
        line.phase, line.hint = "idle", "Something that is to be read now, and is long"
        assert line.render().plain.endswith(line.hint)


@pytest.mark.parametrize("keys", [[*"/pins", "enter"], [*"/foo", "enter"], [*"hello", "enter"]])
async def test_an_answer_and_a_prompt_that_is_sent_come_into_view(keys: list[str]) -> None:
    async with running(make_session()) as pilot:
        await pilot.press("pageup", *keys)
        shown = transcript(pilot)
        await until(pilot, lambda: shown.scroll_offset.y == shown.max_scroll_y)
        assert not shown.behind


async def test_what_one_does_to_an_item_leaves_it_in_view() -> None:
    async with running(make_session()) as pilot:
        await pilot.press("pageup", "f6", *["up"] * 3, "f")
        at = transcript(pilot).scroll_offset.y
        await until(pilot, lambda: "Folded" in status(pilot))
        assert transcript(pilot).scroll_offset.y == at


async def test_once_it_replies_nothing_is_said_of_reading() -> None:
    session = make_session()
    async with running(session) as pilot:
        session.enter("streaming")  # as it does with the first piece of any kind
        session.tell(Streamed(Progress("reading the prompt", 1.0)))
        assert "reading the prompt 100%" in status(pilot)
        session.tell(Streamed(TextDelta("So")))
        assert "replying" in status(pilot)
