"""Edits of JSON with comments: what is put in can be taken out, and nothing else moves."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.other_agents.json_text import NotJson, added, parse, removed

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([None, 2, 4, "\t"]))
def test_json_is_read_as_python_reads_it(value: Any, indent: int | str | None) -> None:
    assert parse(json.dumps(value, indent=indent)).value == value


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), st.sampled_from([None, 2, "\t"]))
def test_what_is_added_and_removed_leaves_the_very_text(
    value: dict[str, Any], indent: int | str | None
) -> None:
    value.pop("new", None)
    text = json.dumps(value, indent=indent)
    longer = added(text, parse(text), {"a": [1]}, "new")
    root = parse(longer)
    assert root.value == {**value, "new": {"a": [1]}}
    assert removed(longer, root, len(root.members) - 1) == text


def test_comments_line_ends_and_indentation_stay() -> None:
    text = '{\r\n\t// of mine\r\n\t"a": 1, /* b */\r\n\t"c": [] // last\r\n}\r\n'
    longer = added(text, parse(text), {"x": 1}, "new")
    assert longer == (
        '{\r\n\t// of mine\r\n\t"a": 1, /* b */\r\n\t"c": [], // last\r\n'
        '\t"new": {\r\n\t\t"x": 1\r\n\t}\r\n}\r\n'
    )
    root = parse(longer)
    assert removed(longer, root, 2) == text
    assert '"a"' not in removed(longer, root, 0)
    assert parse(removed(longer, root, 0)).value == {"c": [], "new": {"x": 1}}


@pytest.mark.parametrize(
    "text", ["", "{", '{"a"}', '{"a": 1 "b": 2}', "[1,,2]", "{} x", '{"a": \x01}', "[" * 200]
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(NotJson, match="line 1"):
        parse(text)
