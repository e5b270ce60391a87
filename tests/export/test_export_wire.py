"""A session for other programs: what they would refuse is never written."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from fakes.adopted import items, window
from fakes.exports import ID, WRITER, small, transcript
from fakes.histories import histories
from fakes.openai_rules import chat_complaint, responses_complaint
from fakes.recorded import recorded
from pinfold.adopt.detect import read
from pinfold.export import codex, messages
from pinfold.export.transcript import ExportedSession, window_alone
from pinfold.rollout.context import Context, FrontMemories
from pinfold.rollout.events import Data, ItemAdded
from pinfold.rollout.items import Item
from pinfold.window.window import Window

SPOKEN = {"user", "assistant", "tool_call", "tool_result"}


def spoken(items: list[Item]) -> list[tuple[object, ...]]:
    """What must not get lost between two tools."""
    return [
        (item.kind, item.content, item.name if item.kind == "tool_call" else "", item.call_id)
        for item in items
        if item.kind in SPOKEN
    ]


def back(shown: ExportedSession, folder: Path) -> tuple[list[Item], Window]:
    """The items and the window that a reader of Codex's rollouts finds."""
    file = folder / "rollout.jsonl"
    file.write_text(codex.render(shown))
    adoption = read(file)
    assert adoption.tool == "codex"
    assert adoption.skipped == {}
    return items(adoption), window(adoption)


@settings(deadline=None, max_examples=25)
@given(histories())
def test_any_history_makes_messages_that_are_accepted(data: list[Data]) -> None:
    shown = transcript(data)
    for widget in (shown, window_alone(shown)):
        assert chat_complaint(json.loads(messages.render(widget))["messages"]) is None


def test_what_other_sessions_taught_does_not_leave_with_this_one() -> None:
    context = Context(instructions="Be brief.", memories=FrontMemories("The port is 8001."))
    shown = replace(transcript([]), context=context)
    said = messages.render(shown)
    assert "Be brief." in said
    assert "8001" not in said


def test_calls_that_nobody_answered_and_answers_to_nothing_are_mended() -> None:
    items = [
        Item(n=1, kind="tool_result", content="of old", call_id="gone", response=1),
        Item(n=2, kind="tool_call", content="{}", name="a", call_id="c", response=2),
        Item(n=3, kind="tool_call", content="{}", name="b", call_id="c", response=2),
        Item(n=4, kind="tool_call", content="{}", name="d", response=2),
        Item(n=5, kind="tool_result", content="late", call_id="c", response=2),
        Item(n=6, kind="user", content="and?"),
    ]
    body = json.loads(messages.render(transcript([ItemAdded(item=item) for item in items])))
    assert chat_complaint(body["messages"]) is None
    assert [m["content"] for m in body["messages"] if m["role"] == "tool"].count("late") == 1
    assert "of old" in str(body["messages"])


def test_the_body_can_be_sent_as_it_is() -> None:
    body = json.loads(messages.render(window_alone(transcript(small(), WRITER))))
    assert body["model"] == "gpt-5.2"
    assert body["messages"][0]["role"] == "system"
    assert "tools" not in body
    assert "brings it back" in str(body["messages"])


def test_codex_reads_back_what_was_said_and_done(tmp_path: Path) -> None:
    shown = transcript(small(), WRITER)
    items, window = back(shown, tmp_path)
    assert spoken(items) == spoken([entry.item for entry in shown.entries])
    assert codex.thread_id(shown) == ID
    texts = [item.content for item in window.items]
    assert "# So far\nThe config was read twice." in texts
    assert texts == [item.content for item in shown.window if item.kind != "reasoning"]


def lines(shown: ExportedSession) -> list[tuple[str, Any]]:
    told = map(json.loads, codex.render(shown).splitlines())
    return [(value["type"], value["payload"]) for value in told]


def test_codex_goes_on_with_the_provider_that_it_has() -> None:
    [meta] = [told for kind, told in lines(transcript(small(), WRITER)) if kind == "session_meta"]
    assert "model_provider" not in meta


def test_every_turn_has_an_end_that_codex_knows() -> None:
    items = [
        Item(n=1, kind="context", content="The rules."),
        Item(n=2, kind="user", content="one", turn=1),
        Item(n=3, kind="assistant", content="first", turn=1, response=1),
        Item(n=4, kind="user", content="while it ran", turn=1),
        Item(n=5, kind="assistant", content="second", turn=1, response=2),
        Item(n=6, kind="user", content="two", turn=2),
        Item(n=7, kind="assistant", content="cut", turn=2, response=3, state="interrupted"),
        Item(n=8, kind="user", content="three", turn=3),
    ]
    marks, ids = [], []
    for kind, told in lines(transcript([ItemAdded(item=item) for item in items], WRITER)):
        if kind == "turn_context" or (kind == "event_msg" and "turn_id" in told):
            marks.append(told.get("last_agent_message") or told.get("type") or kind)
            ids.append(told["turn_id"])
    assert marks == [
        *("task_started", "turn_context", "second"),
        *("task_started", "turn_context", "turn_aborted"),
        *("task_started", "turn_context", "turn_aborted"),
    ]
    assert ids == [turn_id for turn_id in dict.fromkeys(ids) for _ in range(3)]


def test_a_session_without_turns_has_one_for_each_prompt() -> None:
    kinds = [
        told["type"]
        for kind, told in lines(transcript(small(), WRITER))
        if kind == "event_msg" and "turn_id" in told
    ]
    ends = ("task_complete", "turn_aborted", "task_complete")
    assert kinds == [kind for end in ends for kind in ("task_started", end)]


def test_what_codex_gets_is_what_a_server_accepts() -> None:
    for line in codex.render(transcript(small(), WRITER)).splitlines():
        told = json.loads(line)
        if told["type"] == "compacted":
            assert responses_complaint(told["payload"]["replacement_history"]) is None
            return
    raise AssertionError


def test_a_session_of_another_name_gets_an_id_that_codex_takes() -> None:
    shown = transcript(small(), WRITER)
    other = ExportedSession("t", "ses_1", "/r", WRITER, shown.context, shown.entries, shown.window)
    assert codex.thread_id(other) == codex.thread_id(other)
    assert codex.file_name(other).startswith("rollout-2026-01-01T00-00-01-")


@pytest.mark.parametrize("path", recorded("codex")[:3] + recorded("claude")[:3])
def test_recordings_come_back_from_codex_with_nothing_lost(path: Path, tmp_path: Path) -> None:
    data = [event.data for event in read(path).events]
    shown = transcript(data)
    items, _ = back(shown, tmp_path)
    assert spoken(items) == spoken([e.item for e in shown.entries])
