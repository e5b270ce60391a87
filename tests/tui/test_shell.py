"""What keys and updates do to the screen."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual import events
from textual.pilot import Pilot
from textual.widgets import OptionList

from fakes.host import FakeHost, Line
from fakes.live_session import LiveSession, live_session
from fakes.provider import says
from fakes.screen import CONFIG, make_app, type_fast, until
from fakes.transcripts import shown as rows
from pinfold.agent.updates import CompactionProgress, PromptReturned, Retrying, Streamed
from pinfold.ports.approver import Approver, Decision, Question
from pinfold.ports.errors import ProviderError
from pinfold.ports.provider import TextDelta
from pinfold.ports.tool import Review
from pinfold.rollout.context import AgentsFile, Context
from pinfold.rollout.drafts import Draft
from pinfold.rollout.events import ContextSet, TurnFinished, TurnStarted
from pinfold.rollout.hold import Holder, SessionHeld
from pinfold.rollout.items import Item
from pinfold.rollout.journal import JournalError
from pinfold.tui.app import PinfoldApp
from pinfold.tui.approval.answer import Answer
from pinfold.tui.approval.card import ApprovalCard
from pinfold.tui.gauge import GaugeBar
from pinfold.tui.lines import QueueLines, RetryLine
from pinfold.tui.panels.ask import AskPanel
from pinfold.tui.panels.context import ContextPanel
from pinfold.tui.panels.help import HelpPanel
from pinfold.tui.panels.picker import Picker
from pinfold.tui.prompt.box import PromptBox
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.prompt.popup import Popup
from pinfold.tui.status_line import StatusLine
from pinfold.tui.transcript.view import Transcript

COMMAND = Question(
    "c1",
    "shell",
    '{"command": "pytest -q"}',
    Review("command", "$ pytest -q", command="pytest -q"),
    "runs a command",
    "pytest",
    editable="command",
)


@asynccontextmanager
async def running(session: LiveSession, app: PinfoldApp | None = None) -> AsyncIterator[Pilot[str]]:
    """The app with its session at hand."""
    app = app or make_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        yield pilot


def editor(pilot: Pilot[str]) -> Editor:
    return pilot.app.screen_stack[0].query_one(Editor)


def status(pilot: Pilot[str]) -> StatusLine:
    return pilot.app.screen_stack[0].query_one(StatusLine)


async def test_what_comes_below_the_view_is_counted_until_one_goes_there() -> None:
    items = [Item(n=n, kind="assistant", content=f"reply {n}") for n in range(1, 60)]
    session = live_session(items=items)
    async with running(session) as pilot:
        await pilot.press("pageup")
        session.append(Item(n=60, kind="assistant", content="one more"))
        await until(pilot, lambda: status(pilot).behind)
        assert "below" in status(pilot).render().plain
        await pilot.press("ctrl+end")
        await until(pilot, lambda: not status(pilot).behind)
        assert "below" not in status(pilot).render().plain


async def test_what_the_transcript_notes_of_a_turn() -> None:
    session = live_session()
    async with running(session) as pilot:
        transcript = pilot.app.screen.query_one(Transcript)

        async def drawn() -> str:
            await pilot.pause()
            transcript.flush()
            return "\n".join(rows(transcript))

        rules = AgentsFile("/repo/AGENTS.md", "Use tabs.\nTest first.")
        session.append(ContextSet(hash="h", context=Context(agents=(rules,))))
        assert "Rules from /repo/AGENTS.md, 2 lines" in await drawn()
        session.append(TurnStarted(turn=1))
        session.append(Item(n=1, kind="tool_call", name="shell", call_id="c", content="{}"))
        session.append(TurnFinished(turn=1, state="done"))  # an event a minute
        assert "· Worked for 2m 00s, 1 tool call" in await drawn()
        # An interruption is told once: by the item that was cut off, where there is one.
        session.append(Item(n=2, kind="assistant", content="So", state="interrupted"))
        session.append(TurnFinished(turn=2, state="interrupted"))
        assert "Interrupted." not in await drawn()
        session.append(Item(n=3, kind="assistant", content="So"))
        session.append(TurnFinished(turn=3, state="interrupted"))
        assert (await drawn()).count("Interrupted.") == 1


# Before the session


async def test_what_is_typed_before_the_session_is_sent_once_it_is_there_or_taken_back() -> None:
    session, ready = live_session(), asyncio.Event()
    app = make_app(session, ready=ready)
    async with app.run_test() as pilot:
        await pilot.press(*"hello", "enter", *"more", "enter", "up")
        assert editor(pilot).text == "more"
        await until(pilot, lambda: app.screen.query_one(QueueLines).display)
        assert not session.sent
        ready.set()
        await until(pilot, lambda: session.sent)
        assert session.sent == ["hello"]
        assert editor(pilot).text == "more"


async def test_a_command_that_needs_the_session_waits_for_it_and_others_do_not() -> None:
    session, ready = live_session(), asyncio.Event()
    app = make_app(session, ready=ready)
    async with app.run_test() as pilot:
        await pilot.press(*"/context", "enter")
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpPanel))
        await pilot.press("escape")
        assert len(app.screen_stack) == 1
        ready.set()
        await until(pilot, lambda: isinstance(app.screen, ContextPanel))


async def test_the_help_follows_the_terminal_and_covers_a_narrow_one() -> None:
    app = make_app(live_session())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpPanel))
        panel = app.screen.query_one(".panel")
        assert panel.region.width == 84
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: panel.region == app.screen.region)
        assert panel.border_subtitle == "Esc closes"
        assert panel.virtual_size.width <= 80


async def test_where_there_will_be_no_session_a_command_that_waited_says_so() -> None:
    failing = asyncio.Event()

    async def start(_: Approver) -> LiveSession:
        await failing.wait()
        raise ProviderError("Nobody answers.")

    app = PinfoldApp(start, FakeHost(), CONFIG, monotonic=lambda: 0.0)
    async with app.run_test() as pilot:
        transcript = pilot.app.screen.query_one(Transcript)
        await pilot.press(*"/context", "enter")
        failing.set()
        await until(pilot, lambda: any("no session" in row for row in rows(transcript)))


# Prompts


async def test_a_large_paste_is_a_chip_that_is_deleted_and_sent_whole() -> None:
    session = live_session()
    session.provider.script = [says("fine")] * 2
    text = "\n".join(f"line {n}" for n in range(40))
    async with running(session) as pilot:
        await pilot.press(*"see ")
        editor(pilot).post_message(events.Paste(text))
        await until(pilot, lambda: editor(pilot).text == "see [pasted 40 lines #1]")
        await pilot.press("backspace")
        assert editor(pilot).text == "see "
        await pilot.press("ctrl+underscore", *" ok", "enter")
        assert session.sent == [f"see {text} ok"]
        await session.idle()
        editor(pilot).post_message(events.Paste("x" * 2_000))
        await until(pilot, lambda: editor(pilot).text)
        await pilot.press("left", "left", "a", "ctrl+j", "enter")  # not into the chip
        assert session.sent[1:] == ["x" * 2_000 + "a"]


async def test_keys_that_come_all_at_once_keep_their_order() -> None:
    session = live_session()
    async with running(session) as pilot:
        session.enter("streaming")
        type_fast(pilot, *"one", "enter", *"two", "ctrl+j", *"lines", "enter", *"th")
        await until(pilot, lambda: editor(pilot).text == "th")
        assert [prompt.text for prompt in session.queue] == ["one", "two\nlines"]


async def test_the_prompt_grows_to_eight_lines_below_fifteen_of_the_transcript() -> None:
    async with running(live_session()) as pilot:
        assert pilot.app.screen.query_one(Transcript).size.height >= 15
        await pilot.press(*["ctrl+j"] * 3)
        assert editor(pilot).size.height == 4
        await pilot.press(*["ctrl+j"] * 6)
        assert editor(pilot).size.height == 8


async def test_history_goes_back_and_is_kept_on_disk(tmp_path: Path) -> None:
    session = live_session()
    path = tmp_path / "history.jsonl"
    app = make_app(session, history=path)
    async with running(session, app) as pilot:
        await pilot.press(*"one", "enter", *"two", "enter", *"draft", "up", "up")
        assert editor(pilot).text == "one"
        await pilot.press("down", "down")
        assert editor(pilot).text == "draft"
        await until(pilot, lambda: path.exists() and path.read_text() == '"one"\n"two"\n')


async def test_a_command_of_the_users_own() -> None:
    session = live_session()
    async with running(session) as pilot:
        await pilot.press(*"!ls")
        assert pilot.app.screen.query_one("PromptBox").has_class("-command")
        await pilot.press("enter")
        assert session.commands == ["ls"]
        assert not pilot.app.screen.query_one("PromptBox").has_class("-command")


async def test_the_draft_comes_back_and_is_saved() -> None:
    session = live_session(draft=Draft("half a"))
    async with running(session) as pilot:
        assert editor(pilot).text == "half a"
        await pilot.press(*" thought")
        await until(pilot, lambda: session.draft().text == "half a thought")


async def test_a_prompt_that_was_not_sent_comes_back_before_what_is_typed() -> None:
    session = live_session()
    async with running(session) as pilot:
        await pilot.press(*"new")
        session.tell(PromptReturned("old"))
        assert editor(pilot).text == "old\n\nnew"


# Commands and completion


async def test_a_refused_command_says_why_and_comes_back_with_the_up_arrow() -> None:
    session = live_session()
    async with running(session) as pilot:
        transcript = pilot.app.screen.query_one(Transcript)
        for count, refused in enumerate(("/foo", "/modle x", "/model nonsense"), 1):
            editor(pilot).put("")
            await pilot.press(*refused, "enter")
            await until(pilot, lambda n=count: sum("✗" in row for row in rows(transcript)) == n)
            assert editor(pilot).text == ""
            assert not session.sent
            await pilot.press("up")
            assert editor(pilot).text == refused


async def test_enter_takes_an_argument_as_it_was_typed_unless_one_was_chosen() -> None:
    session = live_session()
    async with running(session) as pilot:
        before = session.approvals
        await pilot.press("/")
        type_fast(pilot, *"appr", "tab", *"wo", "enter")
        await until(pilot, lambda: editor(pilot).text == "")
        assert session.approvals == before
        await pilot.press(*"/approvals wo", "down", "up", "enter")
        await until(pilot, lambda: session.approvals == "workspace")
        assert status(pilot).approvals == "workspace"
        type_fast(pilot, *"/appr", "tab", *"fu", "tab")
        await until(pilot, lambda: editor(pilot).text == "/approvals full")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, AskPanel))
        await pilot.press("escape")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        assert session.approvals == "workspace"
        await pilot.press(*"/approvals", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Picker))
        await pilot.press(*"full", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, AskPanel))
        await pilot.press("y")
        await until(pilot, lambda: status(pilot).approvals == "full")
        assert session.approvals == "full"


async def test_enter_runs_the_one_command_that_begins_so_and_none_of_several() -> None:
    async with running(live_session()) as pilot:
        await pilot.press("/", "enter")
        await pilot.press("/", "r", "e", "enter")
        await until(pilot, lambda: editor(pilot).text == "")
        assert len(pilot.app.screen_stack) == 1
        await pilot.press(*"/them", "enter")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 2)


async def test_a_command_typed_fast_is_the_one_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(live_session()) as pilot:
        ran: list[str] = []
        monkeypatch.setattr(
            pilot.app, "run_command", lambda act, argument: ran.append(act.slash[0])
        )
        for name in ("rewind", "undo", "pins", "model", "theme", "resume"):
            ran.clear()
            await pilot.press("/")
            type_fast(pilot, *name, "enter")
            type_fast(pilot, *f"/{name}", "enter")
            await until(pilot, lambda: len(ran) == 2)
            assert ran == [name] * 2


async def test_files_are_completed_and_a_path_that_is_complete_is_sent(tmp_path: Path) -> None:
    for name in ("counter.py", "other.txt", "a.py", "a.pyi"):
        (tmp_path / name).touch()
    session = live_session()
    async with running(session, make_app(session, cwd=tmp_path)) as pilot:
        popup = pilot.app.screen.query_one(Popup)
        await pilot.press(*"see @cou")
        await until(pilot, lambda: popup.current and popup.current.text == "counter.py")
        await pilot.press("enter")
        assert editor(pilot).text == "see @counter.py "
        assert not session.sent
        await pilot.press(*"@a.py")
        await until(pilot, lambda: popup.current and popup.current.text == "a.py")
        await pilot.press("enter")
        assert session.sent == ["see @counter.py @a.py"]


async def test_escape_closes_the_list_first() -> None:
    session = live_session()
    async with running(session) as pilot:
        session.enter("streaming")
        await pilot.press("/", "escape")
        assert not pilot.app.screen.query_one(Popup).display
        assert session.interrupts == 0
        await pilot.press("escape")
        assert session.interrupts == 1


# Queue


async def test_queued_prompts_are_shown_edited_and_dropped() -> None:
    session = live_session()
    async with running(session) as pilot:
        session.enter("streaming")
        await pilot.press(*"one", "enter", *"two", "enter")
        queue = pilot.app.screen.query_one(QueueLines)
        assert queue.display
        await pilot.press("up")
        assert editor(pilot).text == "two"
        assert [prompt.text for prompt in session.queue] == ["one"]
        editor(pilot).put("")
        await pilot.press("ctrl+x")
        assert session.queue == ()
        assert not queue.display
        await pilot.press("up")
        assert editor(pilot).text == "one"


async def test_a_queued_prompt_comes_back_before_what_is_half_typed() -> None:
    session = live_session()
    async with running(session) as pilot:
        session.enter("streaming")
        await pilot.press(*"one", "enter", *"half", "up")
        await until(pilot, lambda: editor(pilot).text == "one\n\nhalf")
        assert session.queue == ()


# Approval


async def asked(
    pilot: Pilot[str], session: LiveSession, question: Question = COMMAND
) -> "asyncio.Task[Decision]":
    task = session.ask(question)
    await until(pilot, lambda: list(pilot.app.screen.query("Choice")))
    return task


async def test_keys_and_a_click_answer() -> None:
    session, seconds = live_session(), count()
    app = make_app(session, monotonic=lambda: float(next(seconds)))
    async with running(session, app) as pilot:
        for keys, decision in [
            ("y", Decision("yes")),
            ("a", Decision("always")),
            (["n", *"not now", "enter"], Decision("no", "not now")),
            (["e", *" -x", "enter"], Decision("yes", arguments='{"command": "pytest -q -x"}')),
        ]:
            task = await asked(pilot, session)
            await pilot.press(*keys)
            await until(pilot, task.done)
            assert task.result() == decision
            await until(pilot, lambda: pilot.app.focused is editor(pilot))
        task = await asked(pilot, session)
        await pilot.click("Choice")
        assert (await task).verdict == "yes"


async def test_a_allows_folders_where_they_are_offered() -> None:
    session = live_session()
    review = Review("write", "edit src/other/x.py", diff="+x\n")
    question = Question("c1", "write_file", "{}", review, "edits x")
    async with running(session) as pilot:
        for folders in [("src/other",), ("", "src")]:
            task = await asked(pilot, session, replace(question, folders=folders))
            await pilot.press("a")
            assert (await task).verdict == "always"
            await until(pilot, lambda: pilot.app.focused is editor(pilot))
        task = await asked(pilot, session, question)
        await pilot.press("a", "y")
        assert (await task).verdict == "yes"


async def test_escape_goes_back_from_an_answer_and_then_interrupts() -> None:
    session = live_session()
    async with running(session) as pilot:
        task = await asked(pilot, session)
        await pilot.press("e", "escape")
        await until(pilot, lambda: not pilot.app.screen.query(Answer))
        assert session.interrupts == 0
        await pilot.press("escape")
        assert session.interrupts == 1
        task.cancel()
        await until(pilot, lambda: not pilot.app.screen.query(ApprovalCard))


async def test_letters_typed_as_the_question_comes_do_not_answer_it() -> None:
    session, now = live_session(), [10.0]
    app = make_app(session, monotonic=lambda: now[0])
    async with running(session, app) as pilot:
        session.enter("streaming")
        await pilot.press(*"yes", "enter")
        session.ask(COMMAND)
        await until(pilot, lambda: list(pilot.app.screen.query(ApprovalCard)))
        await pilot.press("y")
        assert editor(pilot).text == "y"
        await pilot.press("backspace")
        now[0] += 1
        await until(pilot, lambda: pilot.app.screen.query_one(ApprovalCard).has_focus)
        await pilot.press("y")
        assert (await session.questions[0]).verdict == "yes"


async def test_transcript_keys_work_in_the_transcript() -> None:
    session = live_session(items=[Item(n=1, kind="assistant", content="copy me")])
    async with running(session) as pilot:
        await pilot.press("f6", "up", "c")
        assert pilot.app.clipboard == "copy me"
        assert editor(pilot).text == ""


async def test_ctrl_c_copies_a_selection_and_clears_as_escape_twice_does() -> None:
    async with running(live_session()) as pilot:
        await pilot.press(*"copy me", "shift+home", "ctrl+c")
        assert pilot.app.clipboard == "copy me"
        assert not status(pilot).hint
        await pilot.press("ctrl+c")
        assert editor(pilot).text == ""
        await pilot.press("up")
        assert editor(pilot).text == "copy me"
        await pilot.press("escape")
        assert editor(pilot).text == "copy me"
        await pilot.press("escape")
        assert editor(pilot).text == ""
        await pilot.press("up")
        assert editor(pilot).text == "copy me"


async def test_what_is_being_typed_does_not_answer() -> None:
    session = live_session()
    async with running(session) as pilot:
        await pilot.press(*"wait")
        task = await asked(pilot, session)
        await pilot.press("y")
        assert editor(pilot).text == "waity"
        assert not task.done()
        await pilot.press("f6", "y")
        assert (await task).verdict == "yes"
        assert editor(pilot).text == "waity"


# Lines


async def test_the_lines_around_the_prompt_follow_the_turn() -> None:
    session = live_session()
    async with running(session) as pilot:
        retry = pilot.app.screen.query_one(RetryLine)
        session.enter("waiting")
        session.tell(Retrying("The server is rate limited.", 1, 4.0, 7, 4.0))
        assert "trying again in 4s" in str(retry.render())
        session.enter("requesting")
        assert not retry.display
        session.tell(CompactionProgress("summarising", 0.4, "snapshot"))
        assert status(pilot).progress == "snapshot: summarising · 40%"
        session.tell(CompactionProgress("checking", 1.0, "snapshot"))
        assert status(pilot).progress == ""
        session.tell(CompactionProgress("swapping in", 0.9, "snapshot"))
        session.enter("waiting")
        session.enter("requesting")
        assert status(pilot).progress == ""
        # The gauge counts what streams until the item is there.
        gauge = pilot.app.screen.query_one(GaugeBar)
        session.enter("streaming")
        session.tell(Streamed(TextDelta("word " * 200)))
        assert 128 <= gauge.live <= 320  # 200 words, estimated, in steps
        assert gauge.live % 32 == 0
        session.append(Item(n=1, kind="assistant", content="word " * 200))
        assert gauge.live == 0


async def test_the_transcript_says_what_was_adopted() -> None:
    session = live_session(items=[Item(n=1, kind="user", content="hi")])
    async with make_app(session, note="Adopted from Codex").run_test() as pilot:
        transcript = pilot.app.screen.query_one(Transcript)
        await until(pilot, lambda: any("· Adopted from Codex" in row for row in rows(transcript)))


async def test_typing_does_not_lay_the_screen_out_anew() -> None:
    async with running(live_session()) as pilot:
        await pilot.press("a")
        await pilot.pause()
        laid_out: list[object] = []
        pilot.app.screen.screen_layout_refresh_signal.subscribe(editor(pilot), laid_out.append)
        await pilot.press(*"bcdef")
        await pilot.pause()
        assert not laid_out


# Leaving, keys, panels


async def test_ctrl_c_twice_quits_and_says_how_to_go_on() -> None:
    session = live_session()
    async with running(session) as pilot:
        await pilot.press(*"hi", "enter", "ctrl+c")
        assert "Ctrl+C again quits" in status(pilot).hint
        await pilot.press("ctrl+c")
        await until(pilot, lambda: session.closed)
    assert pilot.app.return_value == ("Session saved. Resume with: pinfold resume 0197f3a2-7c10")


async def test_ctrl_d_quits_at_an_empty_prompt_alone() -> None:
    session = live_session()
    async with running(session) as pilot:
        await pilot.press("a", "left", "ctrl+d")
        assert editor(pilot).text == ""
        await pilot.press("ctrl+d")
        await until(pilot, lambda: session.closed)


async def test_keys_can_be_remapped() -> None:
    session = live_session()
    app = make_app(session, keys={"send": "f2", "interrupt": "ctrl+t"})
    async with running(session, app) as pilot:
        session.enter("streaming")
        await pilot.press("ctrl+t")
        assert session.interrupts == 1
        session.enter("idle")
        await pilot.press("a", "f2")
        assert session.sent == ["a"]


async def test_letters_typed_in_the_transcript_land_in_the_prompt() -> None:
    async with running(live_session()) as pilot:
        await pilot.press("f6")
        assert pilot.app.focused is pilot.app.screen.query_one(Transcript)
        await pilot.press("w")
        assert editor(pilot).text == "w"


async def test_the_theme_picker_previews_and_escape_restores() -> None:
    async with running(live_session()) as pilot:
        await pilot.press(*"/theme", "enter")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 2)
        await pilot.press("down")
        await until(pilot, lambda: pilot.app.theme == "pinfold-light")
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.theme == "pinfold")


async def test_another_session_is_picked() -> None:
    session = live_session()
    host = FakeHost(lines=[Line("0197a", "first"), Line("0197b", "second")])
    async with running(session, make_app(session, host=host)) as pilot:
        await pilot.press(*"/resume", "enter")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 2)
        await pilot.press(*"sec")
        await pilot.press("enter")
        await until(pilot, lambda: host.opened)
        assert host.opened == ["resume 0197b"]
        await until(pilot, lambda: session.closed)


async def test_a_command_that_goes_wrong_is_told_and_leaves_the_old_session() -> None:
    session = live_session()
    host = FakeHost()
    async with running(session, make_app(session, host=host)) as pilot:
        for trouble, said in [
            (ProviderError("The model is gone."), "model&#160;is&#160;gone"),
            (JournalError("The disk is full."), "disk&#160;is&#160;full"),
            (KeyError("no such row"), "no&#160;such&#160;row"),
        ]:
            host.trouble = trouble
            editor(pilot).put("/new")
            await pilot.press("escape", "enter")
            await until(pilot, lambda said=said: said in pilot.app.export_screenshot())
        await pilot.press(*"hi", "enter")
        assert session.sent == ["hi"]


async def test_the_palette_runs_actions() -> None:
    async with running(live_session()) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 2)
        await pilot.press(*"keys and")
        await until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count == 1)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpPanel))


async def test_the_first_screen_offers_and_a_resumed_session_asks_for_no_offer() -> None:
    asked: list[str] = []

    def offer() -> str:
        asked.append("offer")
        return "Memories are new."

    app = make_app(new := live_session(), offer=offer)
    async with running(new, app):
        assert "Memories&#160;are&#160;new." in app.export_screenshot()
    hi = Item(n=1, kind="user", content="hi")
    resumed = live_session(items=(hi,), notices=("A torn line.",))
    app = make_app(resumed, offer=offer)
    async with running(resumed, app):
        assert asked == ["offer"]
        assert "A&#160;torn&#160;line." in app.export_screenshot()


async def test_what_waits_for_trust_is_told_of_each_session_that_is_opened() -> None:
    session = live_session()
    host = FakeHost(warnings=("config.toml: model.name waits",))
    app = make_app(session, host=host)
    async with running(session, app) as pilot:
        await pilot.press(*"/new", "enter")
        await until(pilot, lambda: "model.name&#160;waits" in app.export_screenshot())


async def test_a_theme_that_is_not_there_is_told() -> None:
    session = live_session()
    app = make_app(session, theme="mud")
    async with running(session, app):
        assert app.theme == "pinfold"
        assert "“mud”" in app.export_screenshot()


# Faults


async def test_a_picked_session_that_is_held_leaves_the_old_one() -> None:
    session = live_session()
    host = FakeHost(lines=[Line("0197a", "first")], trouble=SessionHeld(Holder(7, "there")))
    app = make_app(session, host=host)
    async with running(session, app) as pilot:
        await pilot.press(*"/resume", "enter")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        await pilot.press("enter")
        await until(pilot, lambda: "process&#160;7" in app.export_screenshot())
        await pilot.press(*"hi", "enter")
        assert session.sent == ["hi"]


@pytest.mark.parametrize("trouble", [SessionHeld(Holder(7, "there")), ValueError("odd")])
async def test_a_first_session_that_does_not_open_gives_the_prompt_back(trouble: Exception) -> None:
    opened = asyncio.Event()

    async def start(_: Approver) -> LiveSession:
        await opened.wait()
        raise trouble

    app = PinfoldApp(start, FakeHost(), CONFIG)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"hello", "enter")
        opened.set()
        await until(pilot, lambda: editor(pilot).text == "hello")


async def test_sigterm_quits_and_keeps_the_session() -> None:
    session = live_session()
    async with running(session) as pilot:
        os.kill(os.getpid(), signal.SIGTERM)
        await until(pilot, lambda: session.closed)


async def test_enter_joins_the_turn_and_tab_waits_for_its_end() -> None:
    session = live_session()
    session.provider.script = [says("fine"), says("fine")]
    async with running(session) as pilot:
        session.append(TurnStarted(turn=1))
        session.enter("streaming")
        await pilot.press(*"one")
        box = pilot.app.screen.query_one(PromptBox)
        await until(pilot, lambda: "Tab: after the turn" in str(box.border_subtitle))
        await pilot.press("enter", *"two", "tab")
        assert [(prompt.text, prompt.steers) for prompt in session.queue] == [
            ("one", True),
            ("two", False),
        ]
        queue = pilot.app.screen.query_one(QueueLines)
        await until(pilot, lambda: "waiting: one" in str(queue.render()))
        assert "queued: two" in str(queue.render())
        session.enter("idle")
        await pilot.press(*"a", "tab")
        assert editor(pilot).text == "a"
