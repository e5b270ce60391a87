"""The approval card as a menu, and what typing ahead may not do to it."""

from collections.abc import Sequence
from itertools import count

import pytest
from textual import events

from fakes.live_session import live_session
from fakes.screen import make_app, type_fast, until
from pinfold.ports.approver import Decision, Question
from pinfold.ports.tool import Review
from pinfold.tui.approval.card import ApprovalCard
from pinfold.tui.approval.menu import options
from pinfold.tui.prompt.editor import Editor

COMMAND = Question(
    "c1",
    "shell",
    '{"command": "git log"}',
    Review("command", "$ git log", command="git log"),
    "runs a command",
    "git log",
    editable="command",
)
EDIT = Question(
    "c2", "write_file", "{}", Review("write", "write a", diff="+x\n"), "writes a file", edits=True
)
STEPS = Question("", "", "", Review("read", "continue after 50 steps"), "the step limit")
CHOICES = Question("c3", "", "{}", Review("read", "TLS?"), "", choices=("TLS", "no TLS"))


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        (
            COMMAND,
            ["Yes", "Yes, always `git log …`", "No, and tell the model why", "Edit the command"],
        ),
        (
            EDIT,
            ["Yes", "Yes, for this session's edits", "No, and tell the model why", "Edit it first"],
        ),
        (STEPS, ["Yes", "No"]),
    ],
)
def test_the_answers_in_their_order(question: Question, texts: list[str]) -> None:
    assert [option.text for option in options(question)] == texts


async def answered(
    answers: Sequence[tuple[Question, Sequence[str], Decision]], *, fast: bool = False
) -> None:
    """Each question is answered by its keys, one after the other."""
    session, seconds = live_session(), count()
    app = make_app(session, monotonic=lambda: float(next(seconds)))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: session.approver)
        for question, keys, decision in answers:
            task = session.ask(question)
            await until(pilot, lambda: isinstance(app.focused, ApprovalCard))
            if fast:
                type_fast(pilot, *keys)
            else:
                await pilot.press(*keys)
            await until(pilot, task.done)
            assert task.result() == decision
            await until(pilot, lambda: not app.screen.query(ApprovalCard))


async def test_arrows_and_numbers_answer() -> None:
    await answered(
        [
            (EDIT, ["enter"], Decision("yes")),
            (EDIT, ["down", "enter"], Decision("always")),
            (EDIT, ["2"], Decision("always")),
            (EDIT, ["up", "up", "enter", *"no", "enter"], Decision("no", "no")),
            (EDIT, ["3", "enter"], Decision("no")),
            (STEPS, ["2"], Decision("no")),
        ]
    )


async def test_a_card_takes_no_key_until_it_has_been_seen() -> None:
    session, now = live_session(), [10.0]
    app = make_app(session, card_delay=0.5, monotonic=lambda: now[0])
    async with app.run_test() as pilot:
        await until(pilot, lambda: session.approver)
        task = session.ask(COMMAND)
        await until(pilot, lambda: list(pilot.app.screen.query(ApprovalCard)))
        type_fast(pilot, "enter", "1", "y", "enter")
        await until(pilot, lambda: session.queue)
        assert not task.done()
        assert session.queue[0][1] == "1y"
        now[0] += 1
        await until(pilot, lambda: isinstance(pilot.app.focused, ApprovalCard))
        await pilot.press("enter")
        assert await task == Decision("yes")


async def test_what_answers_nothing_goes_into_the_prompt() -> None:
    session = live_session()
    async with make_app(session).run_test() as pilot:
        await until(pilot, lambda: session.approver)
        task = session.ask(COMMAND)
        await until(pilot, lambda: isinstance(pilot.app.focused, ApprovalCard))
        pilot.app.post_message(events.Paste("y\n"))
        await pilot.press("9", *"ok, y")
        assert not task.done()
        assert pilot.app.screen.query_one(Editor).text == "ok, y"
        task.cancel()
        await until(pilot, lambda: not pilot.app.screen.query(ApprovalCard))


async def test_a_question_is_answered_by_a_choice_or_in_words() -> None:
    await answered(
        [
            (CHOICES, ["down", "enter"], Decision("yes", "no TLS")),
            (CHOICES, ["2"], Decision("yes", "no TLS")),
            (CHOICES, [*"both", "enter"], Decision("yes", "both")),
            (CHOICES, ["3", *"why", "enter"], Decision("yes", "why")),
        ]
    )


async def test_an_answer_typed_fast_is_whole() -> None:
    await answered(
        [
            (COMMAND, [*"nuse any yarn", "enter"], Decision("no", "use any yarn")),
            (COMMAND, [*"3no", "enter"], Decision("no", "no")),
            (CHOICES, [*"yes and no", "enter"], Decision("yes", "yes and no")),
        ],
        fast=True,
    )


async def test_what_is_typed_fast_goes_into_the_prompt_whole() -> None:
    session = live_session()
    async with make_app(session).run_test() as pilot:
        await until(pilot, lambda: session.approver)
        task = session.ask(COMMAND)
        await until(pilot, lambda: isinstance(pilot.app.focused, ApprovalCard))
        type_fast(pilot, *"so any yen")
        await until(pilot, lambda: pilot.app.focused is pilot.app.screen.query_one(Editor))
        await pilot.pause()
        assert not task.done()
        assert pilot.app.screen.query_one(Editor).text == "so any yen"
        task.cancel()
        await until(pilot, lambda: not pilot.app.screen.query(ApprovalCard))
