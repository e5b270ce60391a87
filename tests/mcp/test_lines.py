"""Lines and messages of servers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.mcp import lines
from pinfold.mcp.lines import MOST_VALUES, LineSplitter, Unreadable, decode


def nowhere(_: bytes) -> str:
    raise AssertionError


@given(st.lists(st.binary(max_size=30)), st.integers(1, 12))
def test_lines_are_the_same_however_the_bytes_come(chunks: list[bytes], most: int) -> None:
    whole = b"".join(chunks)
    fed = LineSplitter(most)
    found = [line for chunk in chunks for line in fed.feed(chunk)]
    ended, _, rest = whole.rpartition(b"\n")
    expected = [None if len(line) > most else line for line in ended.split(b"\n") if line]
    assert found == expected + ([None] if len(rest) > most else [])


def test_a_line_that_is_too_long_is_dropped_as_it_comes() -> None:
    fed = LineSplitter(10)
    assert list(fed.feed(b"a" * 11)) == [None]
    assert list(fed.feed(b"a" * 100)) == []
    assert list(fed.feed(b"a\nb\n")) == [b"b"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"a":' + b"[" * 3000 + b"]" * 3000 + b"}", "nested too deeply"),
        (b'{"a":' + b"[" * 120 + b"]" * 120 + b"}", "nested too deeply"),
        (b'{"a":[' + b"[]," * MOST_VALUES + b"1]}", "more than 50,000 values"),
        (b'{"a":', "not valid JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"a":"\\ud800"}', "not valid JSON"),
    ],
)
def test_what_cant_be_read_is_said(line: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        decode(line, nowhere)


def test_what_a_text_holds_counts_as_one_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LARGE", 0)
    text = '{"a": [1, "\\\\", 2]}\\' * MOST_VALUES
    assert decode(json.dumps({"a": text}).encode(), nowhere) == {"a": text}


@given(st.text(), st.text(), st.integers(20, 40), st.booleans())
def test_a_long_text_is_cut_and_the_message_kept(
    first: str, more: str, head: int, escaped: bool
) -> None:
    text = first + more * 20
    line = json.dumps({"a": 1, "b": text, "c": "d"}, ensure_ascii=escaped).encode(errors="replace")
    kept: list[bytes] = []
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("LARGE", 0), ("MOST_AT_HAND", 60), ("_HEAD", head)):
            patch.setattr(lines, name, value)
        try:
            found = decode(line, lambda whole: kept.append(whole) or "FILE")
        except Unreadable:
            return
    assert (found["a"], found["c"]) == (1, "d")
    if kept:
        assert kept == [line]
        start, _, rest = found["b"].partition(" [... ")
        assert text.startswith(start)
        assert rest.endswith("the message is in FILE ...]")
