"""OpenAI message lists and Responses items, in every wrapping that they come in."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.adopted import data, items, window
from fakes.foreign import damaged
from pinfold.adopt.adoption import Adoption, NotASession
from pinfold.adopt.messages import read_document, read_lines
from pinfold.rollout.events import ContextSet, TurnFinished

FILE = Path("messages.json")
AT = datetime(2026, 3, 1, tzinfo=UTC)


def call(call_id: str, name: str = "ls") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}


MESSAGES: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Look.", "name": "someone", "extra": 1},
    {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b", "cat")]},
    {"role": "tool", "tool_call_id": "b", "content": "of cat"},
    {"role": "tool", "tool_call_id": "a", "content": "of ls"},
    {"role": "assistant", "content": "Done."},
]


def read(value: Any, index: int = 0) -> Adoption:
    return read_document(value, FILE, AT, index)


@pytest.mark.parametrize(
    "value",
    [
        MESSAGES,
        {"messages": MESSAGES, "id": 1},
        [MESSAGES, []],
        [{"no": 1}, {"messages": MESSAGES}],
    ],
)
def test_a_conversation_is_found_in_any_wrapping(value: Any) -> None:
    adoption = read(value)
    found = items(adoption)
    assert [item.kind for item in found] == [
        "user",
        "tool_call",
        "tool_call",
        "tool_result",
        "tool_result",
        "assistant",
    ]
    assert [item.response for item in found] == [0, 1, 1, 1, 1, 2]
    assert [item.name for item in found[3:5]] == ["cat", "ls"]
    (context,) = data(adoption, ContextSet)
    assert context.context.instructions == "Be brief."
    assert (adoption.title, adoption.started_at) == ("Look.", AT)
    ends = [turn.state for turn in data(adoption, TurnFinished)]
    assert ends == ["done"]


def test_one_of_several_conversations_is_chosen_by_its_index() -> None:
    several = [{"messages": [{"role": "user", "content": text}]} for text in ("one", "two")]
    assert items(read(several, 1))[0].content == "two"
    assert read(several).notes == ("The file holds 2 conversations, counted from 0; this is 0.",)
    with pytest.raises(NotASession, match="2 conversations"):
        read(several, 2)


def test_one_message_a_line() -> None:
    lines = [json.dumps(message).encode() + b"\n" for message in MESSAGES]
    lines[-1] = lines[-1][:9]
    adoption = read_lines(lines, FILE, AT)
    assert len(items(adoption)) == 5
    assert adoption.notes == ("The last line is half-written.",)


def test_responses_items_are_read_like_messages() -> None:
    adoption = read(
        {
            "input": [
                {"role": "developer", "content": "Be brief."},
                {"role": "user", "content": [{"type": "input_text", "text": "Look."}]},
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Think."}]},
                {"type": "function_call", "call_id": "a", "name": "ls", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "a", "output": "x"},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Done."}],
                },
            ]
        }
    )
    found = [(item.kind, item.content, item.response) for item in items(adoption)]
    assert found == [
        ("user", "Look.", 0),
        ("reasoning", "Think.", 1),
        ("tool_call", "{}", 1),
        ("tool_result", "x", 1),
        ("assistant", "Done.", 2),
    ]


def test_images_in_parts_come_along() -> None:
    url = "data:image/png;base64,aGk="
    parts = [{"type": "text", "text": "See:"}, {"type": "image_url", "image_url": {"url": url}}]
    (item,) = items(read([{"role": "user", "content": parts}]))
    assert (item.content, item.images[0].data) == ("See:", "aGk=")


def test_functions_from_before_there_were_ids() -> None:
    found = items(
        read(
            [
                {"role": "user", "content": "Look."},
                {"role": "assistant", "function_call": {"name": "ls", "arguments": "{}"}},
                {"role": "function", "name": "ls", "content": "x"},
            ]
        )
    )
    assert [item.kind for item in found] == ["user", "tool_call", "tool_result"]
    assert found[1].call_id == found[2].call_id


def test_a_system_message_further_down_stands_in_the_window() -> None:
    found = items(read([*MESSAGES, {"role": "system", "content": "Hurry."}]))
    assert (found[-1].kind, found[-1].content) == ("context", "Hurry.")


@pytest.mark.parametrize("value", [1, {}, [], {"messages": []}, [{"a": 1}], {"messages": "x"}])
def test_json_without_messages_is_no_session(value: Any) -> None:
    with pytest.raises(NotASession, match="no list of messages"):
        read(value)


def test_instructions_alone_are_no_session() -> None:
    with pytest.raises(NotASession, match="no message"):
        read(MESSAGES[:1])


@given(st.integers(0, 10_000))
def test_damage_never_raises_and_never_breaks_a_pair(seed: int) -> None:
    lines = damaged([json.dumps(message).encode() + b"\n" for message in MESSAGES], seed)
    try:
        adoption = read_lines(lines, FILE, AT)
    except NotASession:
        return
    window(adoption)
