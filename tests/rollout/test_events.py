"""Events on a line, and back."""

from datetime import UTC
from types import UnionType
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.rollout import codec, events
from pinfold.rollout.events import Data, Event, Unknown
from pinfold.rollout.values import is_compaction

text = st.text(st.characters(exclude_categories=["Cs"]))
json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text,
    lambda inner: st.lists(inner) | st.dictionaries(text, inner),
    max_leaves=5,
)
st.register_type_strategy(str, text)
st.register_type_strategy(int, st.integers(-(2**63), 2**63 - 1))
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
moments = st.datetimes(timezones=st.just(UTC))


def of(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of a field's type: any Struct with every field filled in."""
    if annotation == dict[str, Any]:
        return st.dictionaries(text, json)
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        fields = msgspec.structs.fields(annotation)
        return st.builds(annotation, **{field.name: of(field.type) for field in fields})
    parts: tuple[Any, ...] = getattr(annotation, "__args__", ())
    if getattr(annotation, "__origin__", None) is tuple:
        if ... not in parts:
            return st.tuples(*map(of, parts))
        return st.lists(of(parts[0]), max_size=3).map(tuple)
    if isinstance(annotation, UnionType) or type(None) in parts:
        return st.one_of([of(part) for part in parts])
    return st.from_type(annotation)


@settings(deadline=None)
@given(st.sampled_from(list(events.TYPES.values())).flatmap(of), moments, st.integers(1, 2**53))
def test_an_event_comes_back_as_it_was_written(data: Data, at: Any, seq: int) -> None:
    event = Event(seq, at, data)
    line = codec.encode(event)
    assert b"\n" not in line
    assert codec.decode(line) == event


def test_a_field_that_is_not_known_does_not_hinder() -> None:
    line = (
        b'{"seq":4,"ts":"2026-01-01T00:00:00Z","type":"turn_started","data":{"turn":2,"x":1},"y":2}'
    )
    assert codec.decode(line).data == events.TurnStarted(turn=2)


@pytest.mark.parametrize("data", [b'{"turn":"two"}', b"{}", b"[]", b"null"])
def test_data_that_does_not_fit_its_type_stays_raw(data: bytes) -> None:
    line = b'{"seq":4,"ts":"2026-01-01T00:00:00Z","type":"turn_started","data":' + data + b"}"
    with pytest.raises(ValueError):
        codec.decode(line)
    event = codec.decode_leniently(line, 1, codec.decode(EMPTY).ts)
    assert event.seq == 4
    assert event.data == Unknown(type="turn_started", raw=line)


@settings(deadline=None)
@given(st.binary() | json.map(msgspec.json.encode) | st.just(b"[" * 100_000))
def test_no_line_is_too_odd(line: bytes) -> None:
    event = codec.decode_leniently(line, 7, codec.decode(EMPTY).ts)
    assert isinstance(event.data, Unknown)
    assert event.data.raw == line


EMPTY = b'{"seq":1,"ts":"2026-01-01T00:00:00Z","type":"from_the_future"}'


def test_halves_of_a_character_are_joined_and_lone_ones_replaced() -> None:
    prompt = events.PromptQueued(id=1, text="\ud83d\ude00 \ud800")
    assert codec.repaired(prompt) == events.PromptQueued(id=1, text="😀 \ufffd")


def test_a_window_that_the_user_went_back_to_is_no_compaction() -> None:
    reasons = ["manual", "threshold", "overflow", "model", "adopted"]
    back = ["undo", "restore", "kept", "rewind"]
    assert [reason for reason in [*reasons, *back] if is_compaction(reason)] == reasons
