"""Arguments that models write: right, wrong, and nested as deep as they like."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.rollout.arguments import MAX_DEPTH, is_too_deep, parsed

brackets = st.lists(st.sampled_from(["{}", "[]"]), max_size=3 * MAX_DEPTH)


def nested(kinds: list[str], core: str) -> str:
    """`{"a": ...}` around objects and lists, one in the other, around `core`."""
    heads = ['{"a": ' if kind == "{}" else "[0, " for kind in kinds]
    return "".join(['{"a": ', *heads, core, *(kind[1] for kind in reversed(kinds)), "}"])


@given(brackets, st.sampled_from(['"[{"', "1", "{}", "[]"]))
def test_only_what_is_not_too_deep_is_parsed(kinds: list[str], core: str) -> None:
    text = nested(kinds, core)
    depth = 1 + len(kinds) + (core in ("{}", "[]"))
    assert is_too_deep(text) == (depth > MAX_DEPTH)
    assert parsed(text) == (None if is_too_deep(text) else json.loads(text))


@given(st.text('{}[]"a:,0 \\'))
def test_no_text_is_too_much(text: str) -> None:
    found = parsed(text)
    assert found is None or found == json.loads(text or "{}")


@pytest.mark.parametrize("depth", [3_000, 300_000])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_text_that_no_parser_can_take_is_too_deep(opening: str, depth: int) -> None:
    text = '{"a": ' + opening * depth + "0" + {"[": "]"}.get(opening, "}") * depth + "}"
    assert is_too_deep(text)
    assert parsed(text) is None


@pytest.mark.parametrize("text", ["[1]", "3", "null", '"a"', '{"a": ', "{'a': 1}"])
def test_what_is_no_object_is_none(text: str) -> None:
    assert parsed(text) is None


def test_nothing_is_no_arguments() -> None:
    assert parsed("") == {}
