"""What servers do on the chat wire that OpenAI does not."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.ports.errors import ProviderError
from pinfold.ports.provider import (
    CallDelta,
    Delta,
    PartDone,
    Progress,
    ReasoningDelta,
    ResponseDone,
)
from pinfold.wire.chat.stream import ChatStream
from pinfold.wire.errors import ApiServer

SERVER = ApiServer("http://127.0.0.1:1234/v1")


def fed(*deltas: dict[str, Any], finish: str = "stop", **last: Any) -> list[Delta]:
    stream = ChatStream(SERVER)
    found: list[Delta] = []
    for delta in deltas:
        found += stream.feed(json.dumps({"choices": [{"delta": delta}]}).encode())
    found += stream.feed(
        json.dumps({"choices": [{"delta": {}, "finish_reason": finish}], **last}).encode()
    )
    return found + stream.feed(b"[DONE]")


def parts(found: list[Delta]) -> list[PartDone]:
    return [delta for delta in found if isinstance(delta, PartDone)]


def piece(name: str | None = None, arguments: Any = None, **fields: Any) -> dict[str, Any]:
    return {"tool_calls": [{"function": {"name": name, "arguments": arguments}, **fields}]}


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_keeps_the_field_it_came_in(field: str) -> None:
    found = fed({field: "Hm"}, {field: "m."}, {"content": "Yes"})
    assert parts(found)[0] == PartDone("reasoning", "Hmm.", opaque={"field": field})
    assert isinstance(found[0], ReasoningDelta)


def test_mistral_s_thinking_comes_as_a_list() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
    found = fed({"content": [thinking]}, {"content": [{"type": "text", "text": "Yes"}]})
    assert [(p.kind, p.content) for p in parts(found)] == [
        ("reasoning", "Hm"),
        ("assistant", "Yes"),
    ]


def test_calls_without_an_index_are_told_apart_by_id() -> None:
    found = fed(piece("a", "{", id="1"), piece(None, "}"), piece("b", "{}", id="2"))
    assert [(p.call_id, p.name, p.content) for p in parts(found)] == [
        ("1", "a", "{}"),
        ("2", "b", "{}"),
    ]


def test_calls_that_all_have_index_zero_are_told_apart_by_id() -> None:
    found = fed(piece("a", "{}", id="1", index=0), piece("b", "{}", id="2", index=0))
    assert [p.name for p in parts(found)] == ["a", "b"]
    assert [d.index for d in found if isinstance(d, CallDelta)] == [0, 1]


def test_calls_with_neither_index_nor_id_get_ids() -> None:
    found = parts(fed(piece("a", "{}"), piece("a", "{}")))
    assert [p.name for p in found] == ["a", "a"]
    assert len({p.call_id for p in found}) == 2
    assert all(p.call_id for p in found)


def test_calls_that_share_an_id_get_another() -> None:
    found = parts(fed(piece("a", "{}", id="1", index=0), piece("b", "{}", id="1", index=1)))
    assert found[0].call_id == "1"
    assert found[1].call_id not in {None, "1"}


def test_indices_may_begin_anywhere_and_pieces_may_mix() -> None:
    found = fed(
        piece("a", "{", id="1", index=3),
        piece("b", "[", id="2", index=7),
        piece(None, "}", index=3),
        piece(None, "]", index=7),
    )
    assert [p.content for p in parts(found)] == ["{}", "[]"]


def test_arguments_may_come_as_an_object() -> None:
    (part,) = parts(fed(piece("a", {"path": "x"}, id="1")))
    assert json.loads(part.content) == {"path": "x"}


def test_a_call_counts_though_the_server_says_stop() -> None:
    end = fed(piece("a", "{}", id="1"), finish="stop")[-1]
    assert isinstance(end, ResponseDone)
    assert end.stop == "tool_calls"


def test_deepseek_s_cache_counts() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 4}
    end = fed({"content": "Hi"}, usage=usage)[-1]
    assert isinstance(end, ResponseDone)
    assert end.usage
    assert (end.usage.input, end.usage.cached, end.usage.output) == (9, 4, 2)


def test_llama_cpp_tells_how_far_it_has_read() -> None:
    event = {"choices": [], "prompt_progress": {"total": 200, "processed": 50, "cache": 0}}
    assert ChatStream(SERVER).feed(json.dumps(event).encode()) == [
        Progress("reading the prompt", 0.25)
    ]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
chunks = st.fixed_dictionaries(
    {},
    optional={
        "choices": json_values
        | st.lists(
            st.fixed_dictionaries(
                {"delta": st.dictionaries(st.sampled_from(["content", "tool_calls"]), json_values)}
            )
        ),
        "usage": json_values,
        "error": json_values,
    },
)


@given(st.lists(chunks | json_values, max_size=4))
@settings(max_examples=50)
def test_any_json_is_deltas_or_one_of_the_errors(events: list[Any]) -> None:
    stream = ChatStream(SERVER)
    try:
        for event in events:
            stream.feed(json.dumps(event).encode())
        stream.end()
    except ProviderError:
        pass
    else:
        assert stream.done
