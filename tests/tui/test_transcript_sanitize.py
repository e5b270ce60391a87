import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.sanitize import clean, clean_output, one_line

HOSTILE = st.text(
    st.one_of(
        st.sampled_from("\x1b\x07\x9b[]0;31mHJ\r\n\t\x00\x7f\u202e\u2066\u2028\ufeff\ud800"),
        st.characters(),
    )
)


@given(HOSTILE)
def test_no_control_character_reaches_the_screen(text: str) -> None:
    for safe in (clean(text), clean_output(text), one_line(text)):
        for character in safe.replace("\n", ""):
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


@given(st.text())
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
