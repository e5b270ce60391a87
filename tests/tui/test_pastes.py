"""What was pasted into the prompt stays known as that, whichever way it goes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual import events
from textual.pilot import Pilot

from fakes.live_session import LiveSession, live_session
from fakes.screen import make_app, until
from pinfold.ports.approver import Approver, Question
from pinfold.ports.errors import ProviderError
from pinfold.ports.tool import Review
from pinfold.rollout import provenance
from pinfold.rollout.drafts import Draft
from pinfold.tui.approval.card import ApprovalCard
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.prompt.history import History

LOG = "We decided to drop TLS.\nNever run the tests."
LONG = "\n".join(f"We decided on step {n}." for n in range(40))


def editor(pilot: Pilot[str]) -> Editor:
    return pilot.app.screen_stack[0].query_one(Editor)


@asynccontextmanager
async def running(session: LiveSession, **look: object) -> AsyncIterator[Pilot[str]]:
    app = make_app(session, **look)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app._session is session)
        yield pilot


async def paste(pilot: Pilot[str], text: str) -> None:
    before = editor(pilot).text
    editor(pilot).post_message(events.Paste(text))
    await until(pilot, lambda: editor(pilot).text != before)


async def test_a_paste_is_told_from_what_is_typed() -> None:
    session = live_session()
    async with running(session) as pilot:
        await pilot.press(*"see ")
        await paste(pilot, LOG)
        await pilot.press(*" and ")
        await paste(pilot, LONG)
        await pilot.press("enter")
    assert session.sent == [f"see {LOG} and {LONG}"]
    assert session.pasted == [[LOG, LONG]]


async def test_a_pasted_path_is_typed() -> None:
    session = live_session()
    async with running(session) as pilot:
        await paste(pilot, "src/app.py")
        await pilot.press("enter")
    assert session.pasted == [[]]


async def test_editing_a_paste_makes_only_what_was_edited_the_users() -> None:
    session = live_session()
    async with running(session) as pilot:
        await paste(pilot, LOG)
        await pilot.press("backspace", "!", "enter")
    assert session.sent == [LOG[:-1] + "!"]
    assert session.pasted == [["We decided to drop TLS."]]


async def test_a_queued_prompt_that_is_taken_back_keeps_its_paste() -> None:
    session = live_session()
    async with running(session) as pilot:
        session.enter("streaming")
        await paste(pilot, LOG)
        await pilot.press("enter")
        await until(pilot, lambda: session.queue)
        await pilot.press("up")
        await until(pilot, lambda: editor(pilot).text)
        await pilot.press("enter")
    assert session.pasted == [[LOG], [LOG]]


async def test_a_prompt_from_the_history_keeps_its_paste(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    first = live_session()
    async with running(first, history=path) as pilot:
        await pilot.press(*"see ")
        await paste(pilot, LONG)
        await pilot.press("enter")
        await until(pilot, path.exists)
    second = live_session()
    async with running(second, history=path) as pilot:
        await until(pilot, editor(pilot)._prompts.newest_first)
        await pilot.press("up", *" again", "enter")
    assert second.sent == [f"see {LONG} again"]
    assert second.pasted == [[LONG]]


async def test_a_draft_brings_its_paste_along() -> None:
    session = live_session(draft=Draft(f"see {LOG}", (LOG,)))
    async with running(session) as pilot:
        await until(pilot, lambda: editor(pilot).text)
        await pilot.press(*" ok")
        await until(pilot, lambda: session.draft() == Draft(f"see {LOG} ok", (LOG,)))
        await pilot.press("enter")
    assert session.pasted == [[LOG]]


async def test_what_waited_for_the_first_session_keeps_its_paste() -> None:
    failing = False
    session = live_session()

    async def start(_: Approver) -> LiveSession:
        await until(pilot, lambda: failing)
        raise ProviderError("Nobody answers.")

    app = make_app(session)
    app._start = start
    async with app.run_test() as pilot:
        await paste(pilot, LOG)
        await pilot.press("enter")
        failing = True
        await until(pilot, lambda: editor(pilot).text)
        assert editor(pilot).pastes == [LOG]


async def test_words_given_with_a_no_say_what_of_them_was_pasted() -> None:
    session = live_session()
    question = Question("c1", "shell", "{}", Review("run", "make", command="make"), "ask")
    async with running(session) as pilot:
        task = session.ask(question)
        await until(pilot, lambda: pilot.app.screen.query(ApprovalCard))
        pilot.app.screen.query_one(ApprovalCard).focus()
        await pilot.press("n", *"no: ")
        pilot.app.post_message(events.Paste(LOG))
        await until(pilot, lambda: LOG in pilot.app.focused.text)  # type: ignore[union-attr]
        await pilot.press("enter")
        decision = await task
    assert decision.note == f"no: {LOG}"
    assert provenance.slices(decision.note, decision.pasted) == [LOG]


def test_a_line_of_the_history_that_is_no_entry_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text('{"text": 3}\n{"text": "a b", "pasted": [[0, 99], "x", null]}\n[]\n"c"\n')
    history = History(path)
    history.load()
    assert history.newest_first() == ["c", "a b"]
    assert history.pastes_in("see a b") == ["a b"]
