import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.sanitize import clean, clean_output, escaped, is_safe, one_line, safe

HOSTILE = st.text(
    st.one_of(
        st.sampled_from("\x1b\x07\x9b[]0;31mHJ\r\n\t\x00\x7f\u202e\u2066\u2028\ufeff\ud800"),
        st.characters(),
    )
)


@given(HOSTILE)
def test_no_control_character_reaches_the_screen(text: str) -> None:
    for shown in (clean(text), clean_output(text), one_line(text)):
        for character in shown.replace("\n", ""):
            assert unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
            assert unicodedata.bidirectional(character) not in ("RLO", "LRO", "RLE", "LRE", "RLI")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", "␛[2Jgone"),
        ("a\tb", "a   b"),
        ("pay \u202eevil", "pay ⇄evil"),
        ("one\r\ntwo\n", "one\ntwo\n"),
        ("lone \ud800", "lone �"),
        ("plain [bold]text[/]", "plain [bold]text[/]"),
    ],
)
def test_what_would_drive_the_terminal_is_shown(text: str, shown: str) -> None:
    assert clean(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("dos\r\n", "dos\n"),
    ],
)
def test_output_is_shown_as_a_terminal_would_leave_it(text: str, shown: str) -> None:
    assert clean_output(text) == shown


@given(HOSTILE)
def test_what_is_safe_stays_as_it_is(text: str) -> None:
    assert safe(safe(text)) == safe(text)
    assert is_safe(safe(text))


@given(HOSTILE.filter(lambda text: not re.search("[\ud800-\udfff]", text)))
def test_json_with_escapes_says_the_same(text: str) -> None:
    shown = escaped(json.dumps({"a": text}, ensure_ascii=False))
    assert json.loads(shown) == {"a": text}
    assert is_safe(shown)


def test_half_a_character_becomes_one_that_every_reader_takes() -> None:
    assert escaped('"\ud800"') == '"\\ufffd"'


@pytest.mark.parametrize("word", ["می‌خواهم", "क्‍ष", "👩‍🚀", "❤️‍🔥"])
def test_letters_and_pictures_stay_joined(word: str) -> None:
    assert safe(word) == word
    assert escaped(word) == word


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm\u200d -rf", "rm -rf"),
        ("pay\u200bpal", "paypal"),
        ("a\U000e0041b", "a�b"),
        ("a\U000e0101", "a"),
        ("Wör\u00adter", "Wörter"),
        ("a\tb", "a\tb"),
    ],
)
def test_what_is_not_seen_hides_nothing(text: str, shown: str) -> None:
    assert safe(text) == shown


@given(st.text())
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
