"""Keys of the prompt that other shells have taught people."""

import json
from pathlib import Path

import pytest
from textual import events
from textual._xterm_parser import XTermParser
from textual.widgets import OptionList

from fakes.live_session import live_session
from fakes.screen import make_app, until
from pinfold.ports.approver import Question
from pinfold.ports.tool import Review
from pinfold.rollout.items import Item
from pinfold.tui.approval.card import ApprovalCard
from pinfold.tui.panels.picker import Picker
from pinfold.tui.panels.write import WritePanel
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.prompt.shortcuts import Shortcuts
from pinfold.tui.transcript.view import Transcript
from pinfold.tui.writing import Writing


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("one\\", "one\ntwo"),
        ("one\\\\", "one\\\ntwo"),
        ("!ls \\", "!ls \\\ntwo"),
        ("\\", "\ntwo"),
    ],
)
async def test_enter_behind_a_backslash_begins_a_line(typed: str, sent: str) -> None:
    session = live_session()
    async with make_app(session).run_test() as pilot:
        await until(pilot, lambda: session.approver)
        editor = pilot.app.screen.query_one(Editor)
        await pilot.press(*typed, "enter", *"two")
        assert editor.text == sent
        await pilot.press("enter")
        assert editor.text == ""
        assert [*session.sent, *(f"!{command}" for command in session.commands)] == [sent]


async def test_a_backslash_elsewhere_is_sent() -> None:
    session = live_session()
    async with make_app(session).run_test() as pilot:
        await until(pilot, lambda: session.approver)
        await pilot.press(*"a\\b", "enter")
        assert session.sent == ["a\\b"]


def test_what_terminals_send_for_alt_and_enter_begins_a_line() -> None:
    make_app(None)
    keys = [
        message.key for message in XTermParser().feed("\x1b\r") if isinstance(message, events.Key)
    ]
    assert keys == ["ctrl+j"]


@pytest.mark.parametrize("where", ["prompt", "card", "panel"])
async def test_a_wrapped_line_is_one_line_for_the_keys(where: str) -> None:
    long = "rm -rf src && " + "echo one more word && " * 12 + "true"
    session = live_session()
    app = make_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: session.approver)
        if where == "panel":
            app.push_screen(WritePanel("Goal", "first\n"))
        elif where == "card":
            review = Review("run", long, command=long)
            arguments = json.dumps({"command": "first\n"})
            session.ask(Question("c1", "shell", arguments, review, "ask", editable="command"))
            await until(pilot, lambda: isinstance(app.focused, ApprovalCard))
            await pilot.press("e")
        else:
            app.screen.query_one(Editor).put("first\n")
        await until(pilot, lambda: isinstance(app.focused, Writing) and app.focused.text)
        area = app.focused
        assert isinstance(area, Writing)
        area.move_cursor(area.document.end)
        area.insert(long)
        assert area.wrapped_document.height > 4
        for start, end in [("ctrl+a", "ctrl+e"), ("home", "end")]:
            await pilot.press(start)
            assert area.cursor_location == (1, 0)
            await pilot.press(end)
            assert area.cursor_location == (1, len(long))
        await pilot.press("ctrl+u", *"ls")
        assert area.text == "first\nls"
        await pilot.press("home")
        area.insert(long, (1, 0), maintain_selection_offset=False)
        area.move_cursor((1, 5))
        await pilot.press("ctrl+k")
        assert area.text == "first\nrm -r"


async def test_ctrl_r_searches_earlier_prompts(tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    sent = ["fix the port", "run the tests", "fix the port", "write\ntwo lines"]
    history.write_text("".join(json.dumps(text) + "\n" for text in sent), encoding="utf-8")
    session = live_session()
    async with make_app(session, history=history).run_test() as pilot:
        await until(pilot, lambda: session.approver)
        await pilot.app.workers.wait_for_complete()
        await pilot.press(*"half", "ctrl+r")
        await until(pilot, lambda: isinstance(pilot.app.screen, Picker))
        lines = pilot.app.screen.query_one(OptionList)
        assert [str(option.prompt) for option in lines.options] == [
            "write two lines",
            "fix the port",
            "run the tests",
        ]
        await pilot.press(*"two", "enter")
        editor = pilot.app.screen_stack[0].query_one(Editor)
        await until(pilot, lambda: editor.text == "write\ntwo lines")
        await pilot.press("up", "up")  # what stood there is not lost
        assert editor.text == "half"


async def test_a_question_mark_at_an_empty_prompt_shows_the_shortcuts() -> None:
    app = make_app(live_session(), keys={"switch_focus": "f7"})
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.query(Shortcuts))
        shortcuts, editor = app.screen.query_one(Shortcuts), app.screen.query_one(Editor)
        await pilot.press("question_mark")
        assert shortcuts.display
        assert "F7" in str(shortcuts.render())
        await pilot.press("escape")
        assert not shortcuts.display
        await pilot.press("question_mark", "w", "question_mark")
        assert not shortcuts.display
        assert editor.text == "w?"


async def test_shift_tab_cycles_approval_modes_and_full_is_not_among_them() -> None:
    session = live_session()
    async with make_app(session).run_test() as pilot:
        await until(pilot, lambda: session.approver)
        seen = []
        for _ in range(4):
            await pilot.press("shift+tab")
            seen.append(session.approvals)
        assert seen == ["workspace", "read-only", "plan", "ask"]
        session.set_approvals("full")
        await pilot.press("shift+tab")
        assert session.approvals == "ask"


async def test_f6_goes_to_the_transcript_and_back() -> None:
    session = live_session(items=[Item(n=1, kind="assistant", content="hello")])
    async with make_app(session).run_test() as pilot:
        await until(pilot, lambda: session.approver)
        await pilot.press("f6")
        assert isinstance(pilot.app.focused, Transcript)
        await pilot.press("f6")
        assert isinstance(pilot.app.focused, Editor)
