"""Quotes are looked up word by word."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.rollout import quotes

TEXT = "Please don't touch legacy/.\n- “Port  8012” stays, for now. 使います。Thanks"


@pytest.mark.parametrize(
    ("quote", "sentence"),
    [
        ("please DON’T touch", "Please don't touch legacy/."),
        ("port 8012 stays.", "- “Port 8012” stays, for now."),
        ('"Port 8012" stays', "- “Port 8012” stays, for now."),
        ("legacy/", "Please don't touch legacy/."),
        ("touch legacy/. - port", "Please don't touch legacy/. - “Port 8012” stays, for now."),
        ("います", "使います。"),
    ],
)
def test_a_quote_brings_its_whole_sentence(quote: str, sentence: str) -> None:
    assert quotes.found_in(quote, ["nothing", TEXT]) == sentence


def test_the_number_of_a_line_is_no_part_of_it() -> None:
    assert quotes.found_in("port", ["    12\tport = 8012"]) == "port = 8012"


@pytest.mark.parametrize(
    "quote", ["", " … ", "touch port", "ort 8012", "Port 801", "Port stays", "use legacy", "Thank"]
)
def test_what_was_not_said_so_is_no_quote(quote: str) -> None:
    assert quotes.find(quote, TEXT) is None
    assert quotes.found_in(quote, [TEXT]) == ""


WORDS = st.lists(
    st.sampled_from(["use", "Tabs", "8012", "don't", "é", "使"]), min_size=1, max_size=5
)


@settings(deadline=None)
@given(WORDS, WORDS, WORDS, st.sampled_from([" ", "\n", "  ", "\t"]))
def test_words_in_a_row_are_found_and_others_are_not(
    before: list[str], said: list[str], after: list[str], space: str
) -> None:
    text = space.join([*before, *said, *after])
    quote = " ".join(said)
    for line in (quote, quote.upper(), f"“{quote}”", quote + "."):
        span = quotes.find(line, text)
        assert span is not None
        assert "".join(quote.split()) == "".join(text[slice(*span)].split())
    assert quotes.find(f"{quote} never", text) is None


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=20))
def test_any_text_may_be_looked_up(text: str, quote: str) -> None:
    span = quotes.find(quote, text)
    assert span is None or 0 <= span[0] < span[1] <= len(text)
    assert quotes.find(text, text) is not None or not any(map(str.isalnum, text))
