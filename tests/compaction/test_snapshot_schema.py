"""The schema for structured output, and what is taken for a summary."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.summaries import answer, entry
from pinfold.compaction.summary_schema import Malformed, json_schema, parse

LINES = ["Make part 1 faster.", " ", "x" * 500]


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    for inner in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(inner, dict | list):
            yield from objects(inner)
    if isinstance(schema, dict) and schema.get("type") == "object":
        yield schema


@pytest.mark.parametrize("max_tokens", [100, 512, 8_000])
def test_every_object_is_closed_and_all_its_keys_are_required(max_tokens: int) -> None:
    found = list(objects(json_schema(max_tokens, LINES)))
    assert len(found) == 6
    for record in found:
        assert record["additionalProperties"] is False
        assert record["required"] == list(record["properties"])


def test_a_large_answer_is_not_bounded_as_not_every_server_takes_that() -> None:
    told = str(json_schema(8_000, LINES))
    assert "max" not in told
    assert "enum" not in told


def test_a_small_answer_has_room_for_what_is_worth_most_and_chooses_its_quotes() -> None:
    schema = json_schema(512, LINES)
    room = {
        name: value["maxItems"] for name, value in schema["properties"].items() if name != "task"
    }
    assert [name for name, most in room.items() if most] == [
        "decisions",
        "constraints",
        "todo",
        "files_in_scope",
    ]
    quote = schema["$defs"]["Evidence"]["properties"]["quote"]
    assert quote == {"enum": ["Make part 1 faster.", "x" * 120]}


@given(
    st.text() | st.lists(st.sampled_from(['{"task":', "{", "}", "[", '"', "\\", "1"])).map("".join)
)
def test_any_text_is_a_summary_or_malformed(text: str) -> None:
    with pytest.raises(Malformed):
        parse(text)


def test_values_stand_on_one_line_and_what_says_nothing_is_no_entry() -> None:
    told = parse(
        answer(
            decisions=[entry(text="so\n  it is"), entry(text=" \n")],
            files_in_scope=[entry(path="a.py", why=""), entry(path="", why="none")],
        )
    )
    assert [other.value for other in told.entries()] == [
        {"text": "so it is"},
        {"path": "a.py", "why": ""},
    ]


def test_braces_in_prose_do_no_harm_and_too_many_are_not_looked_at() -> None:
    good = answer(decisions=[entry(text="so it is")])
    assert len(list(parse("{ " * 50 + good).entries())) == 1
    with pytest.raises(Malformed, match="no complete JSON object"):
        parse("{ " * 5_000 + good)
