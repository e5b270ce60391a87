import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.tools.text import NotText, decode, with_line_ends


@given(st.binary() | st.text(alphabet="ab\r\n€").map(str.encode))
def test_text_goes_back_to_the_bytes_it_came_from(data: bytes) -> None:
    try:
        text = decode(data)
    except NotText:
        return
    assert text.encode(text.content) == data


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_an_edit_keeps_encoding_and_line_ends(codec: str) -> None:
    text = decode("café\r\nzwei\r\n".encode(codec))
    changed = text.encode(text.content.replace("zwei", "deux"))
    assert changed == "café\r\ndeux\r\n".encode(codec)


def test_each_line_of_a_mixed_file_keeps_its_own_end() -> None:
    raw = "one\r\ntwo\nthree\r\nfour"
    assert with_line_ends(raw, "one\n2\nthree\nnew\nfour") == "one\r\n2\nthree\r\nnew\r\nfour"


def test_a_character_that_the_encoding_lacks_is_named() -> None:
    text = decode("café".encode("latin-1"))
    with pytest.raises(ValueError, match="latin-1 and cannot hold '€'"):
        text.encode("5 €")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\0", "a PNG image"),
        (b"abc\0def", "NUL bytes"),
        (bytes(range(1, 256)), "neither UTF-8 nor printable"),
        (b"\xff\xfe\x00\xd8", "broken utf-16-le"),
    ],
)
def test_binary_data_is_refused_with_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(NotText, match=reason):
        decode(data)


def test_what_is_unusual_about_a_file_is_said() -> None:
    assert decode(b"\xef\xbb\xbfa\r\n").marks == ["CRLF line ends", "utf-8 with BOM"]
    assert decode(b"a\r\nb\n").marks == ["mixed line ends"]
    assert decode(b"a\n").marks == []
