"""The approval card as a menu, and what typing ahead may not do to it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import NamedTuple

import pytest
from textual import events
from textual.pilot import Pilot

from fakes.live_session import live_session
from fakes.screen import make_app, type_fast, until
from pinfold.ports.approver import Decision, Question
from pinfold.ports.tool import Review
from pinfold.tui.approval.answer import Answer
from pinfold.tui.approval.card import ApprovalCard
from pinfold.tui.approval.menu import options
from pinfold.tui.prompt.box import PromptBox
from pinfold.tui.prompt.editor import PLACEHOLDER

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


class Asked(NamedTuple):
    """The screen while a card has the keys."""

    pilot: Pilot[str]
    task: asyncio.Task[Decision]
    prompt: PromptBox


CHOICES = Question("c3", "", "{}", Review("read", "TLS?"), "", choices=("TLS", "no TLS"))


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        (
            COMMAND,
            [
                "Yes",
                "Yes, always `git log …` in this session",
                "No, and tell the model why",
                "Edit the command",
            ],
        ),
        (
            EDIT,
            [
                "Yes",
                "Yes, and allow edits in this session",
                "No, and tell the model why",
                "Edit it first",
            ],
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


@asynccontextmanager
async def asked(question: Question, **config: object) -> AsyncIterator[Asked]:
    """The card of `question` has the keys; a letter waits for the next key, unless `config` says
    otherwise."""
    session = live_session()
    app = make_app(session, **{"letter_pause": 60.0, **config})
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: session.approver)
        task = session.ask(question)
        await until(pilot, lambda: isinstance(app.focused, ApprovalCard))
        yield Asked(pilot, task, app.screen.query_one(PromptBox))
        task.cancel()
        await until(pilot, lambda: not app.screen.query(ApprovalCard))


@pytest.mark.parametrize("keys", ["also add a test", "yes, but 2 of them", "no", "ok, y", "a y"])
async def test_what_is_written_goes_into_the_prompt(keys: str) -> None:
    """The letter of an answer, too, when another follows it."""
    async with asked(COMMAND) as on:
        type_fast(on.pilot, *keys)
        await until(on.pilot, lambda: on.prompt.editor.text == keys)
        assert on.pilot.app.focused is on.prompt.editor
        assert not on.task.done()


@pytest.mark.parametrize(("keys", "text"), [("", "y\n"), ("a", "ay\n"), ("9", "y\n")])
async def test_a_paste_goes_into_the_prompt(keys: str, text: str) -> None:
    async with asked(COMMAND) as on:
        type_fast(on.pilot, *keys)
        on.pilot.app.post_message(events.Paste("y\n"))
        await until(on.pilot, lambda: on.prompt.editor.text == text)
        assert not on.task.done()


async def test_a_letter_that_no_key_follows_answers() -> None:
    async with asked(COMMAND, letter_pause=0.01) as on:
        await on.pilot.press("a")
        await until(on.pilot, on.task.done)
        assert on.task.result() == Decision("always")


async def test_enter_after_a_letter_gives_the_letters_answer() -> None:
    async with asked(COMMAND) as on:
        await on.pilot.press("n", "enter")
        await until(on.pilot, lambda: isinstance(on.pilot.app.focused, Answer))
        assert not on.task.done()
        await on.pilot.press("enter")
        assert await on.task == Decision("no")


async def test_a_move_after_a_letter_takes_it_back() -> None:
    async with asked(COMMAND) as on:
        await on.pilot.press("a", "down", "down", "enter")
        await until(on.pilot, lambda: isinstance(on.pilot.app.focused, Answer))
        await on.pilot.press(*"no", "enter")
        assert await on.task == Decision("no", "no")


async def test_what_is_deleted_and_typed_fast_is_edited_in_order() -> None:
    async with asked(COMMAND) as on:
        await on.pilot.press("4")
        await until(on.pilot, lambda: isinstance(on.pilot.app.focused, Answer))
        type_fast(on.pilot, *["backspace"] * 3, *"show", "ctrl+s")
        assert await on.task == Decision("yes", arguments='{"command": "git show"}')


async def test_the_prompt_says_that_a_card_has_the_keys() -> None:
    async with asked(COMMAND) as on:
        box = on.prompt
        assert box.editor.placeholder == "Answer above, or write here: a message approves nothing"
        assert box.has_class("-waiting")
        await on.pilot.press("f6")
        assert box.editor.placeholder == PLACEHOLDER
        await on.pilot.press("f6")  # to the prompt, from where the card takes the keys
        await until(on.pilot, lambda: isinstance(on.pilot.app.focused, ApprovalCard))
        await on.pilot.press("3")
        await until(on.pilot, lambda: isinstance(on.pilot.app.focused, Answer))
        assert box.editor.placeholder == "Answer above"
    assert box.editor.placeholder == PLACEHOLDER
    assert not box.has_class("-waiting")


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
            (COMMAND, [*"3no", "enter"], Decision("no", "no")),
            (CHOICES, [*"yes and no", "enter"], Decision("yes", "yes and no")),
        ],
        fast=True,
    )
