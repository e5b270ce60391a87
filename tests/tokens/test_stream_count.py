"""The count of a text that streams in is right at every delta."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.tokens.counter import Counter
from pinfold.tokens.stream import StreamCount

SCRAPS = [
    *("a", "foo", "'s", "!", "_", "12", "/", "é", "中", "😀"),
    *(" ", "  ", "\n", "\r\n", "\t", "\x1c"),
]
deltas = st.lists(st.lists(st.sampled_from(SCRAPS), max_size=4).map("".join), max_size=30)


@pytest.fixture(scope="module", params=["o200k_base", "cl100k_base"])
def counter(request: pytest.FixtureRequest) -> Counter:
    loaded = Counter(request.param)
    loaded.load()
    return loaded


@settings(deadline=None)
@given(deltas=deltas)
def test_the_total_is_that_of_the_text_so_far(counter: Counter, deltas: list[str]) -> None:
    stream, text = StreamCount(counter), ""
    for delta in deltas:
        text += delta
        assert stream.push(delta) == counter.measure(text)
    assert stream.finish() == counter.measure(text)


@settings(deadline=None)
@given(deltas=deltas, at=st.integers(0, 30))
def test_it_becomes_exact_once_the_encoding_is_there(deltas: list[str], at: int) -> None:
    late = Counter("o200k_base")
    stream = StreamCount(late)
    for index, delta in enumerate(deltas):
        if index == at:
            late.load()
        stream.push(delta)
    late.load()
    assert stream.finish() == late.measure("".join(deltas))


@pytest.mark.parametrize("size", [3, 1_000, 40_000])
def test_a_long_word_is_extrapolated_and_settled(counter: Counter, size: int) -> None:
    text = "Qm9yaW5nIGJhc2U2NA" * 3_000
    stream = StreamCount(counter)
    for start in range(0, len(text), size):
        total = stream.push(text[start : start + size])
        if start % 3_000 == 0:
            assert total == pytest.approx(counter.measure(text[: start + size]), rel=0.1)
    assert stream.push(" and on") == counter.measure(text + " and on")
    assert stream.finish() == counter.measure(text + " and on")
