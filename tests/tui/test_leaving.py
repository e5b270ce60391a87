"""Ctrl+C ends what goes on, one thing at a time; Ctrl+Z suspends."""

import os
import signal

import pytest
from textual.drivers.headless_driver import HeadlessDriver

from fakes.live_session import live_session
from fakes.screen import make_app, until
from pinfold.rollout.items import Item
from pinfold.tui.app import PinfoldApp
from pinfold.tui.approval.answer import Answer
from pinfold.tui.panels.write import WritePanel
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.status_line import StatusLine
from pinfold.tui.transcript.view import Transcript

QUITS = "Ctrl+C again quits"


def hint(app: PinfoldApp) -> str:
    return app.screen_stack[0].query_one(StatusLine).hint


@pytest.mark.parametrize("reading", [False, True])
async def test_ctrl_c_interrupts_a_turn_and_pressed_again_quits(reading: bool) -> None:
    session = live_session(items=[Item(n=1, kind="assistant", content="so")])
    app = make_app(session)
    async with app.run_test() as pilot:
        await until(pilot, lambda: session.approver)
        await pilot.press(*"draft", *(["f6"] if reading else []))
        session.enter("streaming")
        await pilot.press("ctrl+c")
        assert session.interrupts == 1
        assert hint(app) == QUITS
        session.enter("idle")  # it has ended by the second press, or not
        await pilot.press("ctrl+c")
        await until(pilot, lambda: session.closed)
        assert session.draft().text == "draft"


async def test_a_second_press_later_than_two_seconds_is_a_first_one() -> None:
    session, now = live_session(), [0.0]
    app = make_app(session, monotonic=lambda: now[0])
    async with app.run_test() as pilot:
        await until(pilot, lambda: session.approver)
        session.enter("tools")
        await pilot.press("ctrl+c")
        await session.idle()
        session.enter("tools")
        now[0] += 2.1
        await pilot.press("ctrl+c")
        assert session.interrupts == 2
        assert not session.closed


async def test_at_rest_ctrl_c_clears_the_draft_then_asks_then_quits() -> None:
    session = live_session()
    app = make_app(session)
    async with app.run_test() as pilot:
        await until(pilot, lambda: session.approver)
        editor = app.screen.query_one(Editor)
        await pilot.press(*"draft", "ctrl+c")
        assert editor.text == ""
        assert "brings it back" in hint(app)
        await pilot.press("up")
        assert editor.text == "draft"
        await pilot.press("ctrl+c", "ctrl+c")
        assert hint(app) == QUITS
        assert not session.closed
        await pilot.press("ctrl+c")
        await until(pilot, lambda: session.closed)


async def test_in_a_panel_ctrl_c_interrupts_a_turn_and_else_closes_the_panel() -> None:
    session = live_session()
    app = make_app(session)
    async with app.run_test() as pilot:
        await until(pilot, lambda: session.approver)
        await pilot.press(*"draft", "f1")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        session.enter("streaming")
        await pilot.press("ctrl+c")
        assert session.interrupts == 1
        assert len(app.screen_stack) == 2
        session.enter("idle")
        app.screen_stack[0].query_one(StatusLine).hint = ""
        await pilot.press("ctrl+c")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        assert app.screen.query_one(Editor).text == "draft"


async def test_ctrl_c_can_be_remapped_in_panels_too() -> None:
    session = live_session()
    app = make_app(session, keys={"leave": "f9"})
    async with app.run_test() as pilot:
        await until(pilot, lambda: session.approver)
        await pilot.press("f1")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        await pilot.press("ctrl+c")
        assert len(app.screen_stack) == 2
        await pilot.press("f9")
        await until(pilot, lambda: len(app.screen_stack) == 1)


@pytest.fixture
def stops(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """A terminal that can be left, and the signals that stop us there."""
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(HeadlessDriver, "can_suspend", property(lambda _: True))
    for name in ("suspend_application_mode", "resume_application_mode"):
        monkeypatch.setattr(HeadlessDriver, name, lambda _: None)
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))
    return sent


@pytest.mark.parametrize("before", [[], ["f6"], ["f1"]])
async def test_ctrl_z_suspends_the_whole_job(
    before: list[str], stops: list[tuple[int, int]]
) -> None:
    """The whole, since what started pinfold, as `make run`, would else wait for it for ever."""
    session = live_session(items=[Item(n=1, kind="assistant", content="so")])
    app = make_app(session)
    async with app.run_test() as pilot:
        await until(pilot, lambda: session.approver)
        await pilot.press(*"draft", *before, "ctrl+z")
        await until(pilot, lambda: stops)
        assert stops == [(0, signal.SIGTSTP)]
        assert session.draft().text == "draft"
        assert app.screen_stack[0].query_one(Editor).text == "draft"
        if before == ["f6"]:
            assert app.focused is app.screen.query_one(Transcript)


async def test_where_a_terminal_cannot_be_left_ctrl_z_says_so() -> None:
    session = live_session()
    app = make_app(session)
    async with app.run_test() as pilot:
        await until(pilot, lambda: session.approver)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: "can&#x27;t&#160;be&#160;suspended" in app.export_screenshot())


@pytest.mark.parametrize("key", ["ctrl+underscore", "ctrl+shift+minus"])
async def test_undo_in_the_prompt_is_on_ctrl_underscore(key: str) -> None:
    session = live_session()
    async with make_app(session).run_test() as pilot:
        await until(pilot, lambda: session.approver)
        editor = pilot.app.screen.query_one(Editor)
        editor.put("one")
        editor.put("two")
        await pilot.press(key)
        assert editor.text == "one"
        await pilot.press("ctrl+y")
        assert editor.text == "two"


async def test_undo_is_on_the_same_key_wherever_text_is_written() -> None:
    app = make_app(live_session(), keys={"undo_typing": "f8"})
    async with app.run_test() as pilot:
        answer = Answer("", one_line=False)
        await app.screen.mount(answer)
        answer.focus()
        await pilot.press("a", "f8")
        assert answer.text == ""
        await app.push_screen(WritePanel("Text", "text"))
        await pilot.press("a", "f8")
        assert app.screen.query_one("TextArea").text == "text"  # type: ignore[attr-defined]
