import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.providers.sse import MAX_LINE, EventDecoder, TooLong

lines = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"))
ends = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(st.lists(st.tuples(lines, ends), max_size=5), st.data())
@settings(max_examples=50)
def test_the_data_survives_any_cut_of_the_bytes(
    events: list[tuple[str, bytes]], data: st.DataObject
) -> None:
    stream = b"".join(
        b": comment" + end + b"event: x" + end + b"data: " + text.encode() + end + end
        for text, end in events
    )
    decoder = EventDecoder()
    found: list[bytes] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += decoder.feed(stream[:size])
        stream = stream[size:]
    assert found + decoder.end() == [text.encode() for text, _ in events]


def test_lines_of_one_event_are_joined() -> None:
    assert EventDecoder().feed(b"data: a\ndata:b\n\n") == [b"a\nb"]


def test_an_event_without_its_blank_line_comes_at_the_end() -> None:
    decoder = EventDecoder()
    assert decoder.feed(b"data: a") == []
    assert decoder.end() == [b"a"]


class Chunk(bytes):
    """Says no to being added to what came before: that would copy a long line for each of them."""

    def __radd__(self, before: bytes) -> bytes:
        raise AssertionError(f"{len(before):,} bytes were copied")


def test_a_long_line_is_put_together_once() -> None:
    decoder = EventDecoder()
    for chunk in (b"data: ", b"a" * 1_000, b"b" * 1_000, b"\n\n"):
        found = decoder.feed(Chunk(chunk))
    assert found == [b"a" * 1_000 + b"b" * 1_000]


def fed(chunks: list[bytes]) -> None:
    decoder = EventDecoder()
    for chunk in chunks:
        decoder.feed(chunk)


@pytest.mark.parametrize("line", [b"data: ", b": a comment ", b"x"])
def test_a_line_that_is_too_long_is_refused_before_it_ends(line: bytes) -> None:
    with pytest.raises(TooLong):
        fed([line, *[b"x" * 2**20] * (MAX_LINE // 2**20)])


def test_so_is_an_event_of_many_lines() -> None:
    with pytest.raises(TooLong):
        fed([b"data: " + b"x" * 2**20 + b"\n"] * (MAX_LINE // 2**20))


def test_a_line_of_just_that_length_is_read() -> None:
    text = b"x" * (MAX_LINE - len(b"data: "))
    assert EventDecoder().feed(b"data: " + text + b"\n\n") == [text]
