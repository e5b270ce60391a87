from hypothesis import given
from hypothesis import strategies as st

from pinfold.providers.sse import EventDecoder

lines = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"))
ends = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(st.lists(st.tuples(lines, ends)), st.data())
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
