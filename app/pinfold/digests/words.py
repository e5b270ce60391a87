"""The words of a text and their information, from the ranks of their tokens."""

import math
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from pinfold.tokens import encodings

if TYPE_CHECKING:
    from tiktoken import Encoding

BIT = 256
"""Information is counted in 1/256 bit."""
_COMMON = 5
"""Bits that are subtracted from every word."""
_LONGEST = 80
"""Characters of a word that are looked at."""
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"
"""Scripts that put no spaces between words: two characters count as one."""
_WORD = re.compile(
    rf"[{_UNSPACED}]{{1,2}}"
    rf"|[^\W_{_UNSPACED}]+(?:[-_./:@'’\\#][^\W_{_UNSPACED}]+)*"
    r"|[$€£]\d[\d.,]*"
)
_ASCII_WORD = re.compile(r"[a-zA-Z0-9]+(?:[-_./:@'\\#][a-zA-Z0-9]+)*|\$[0-9][0-9.,]*")
"""Finds the same in a text of ASCII alone, in half of the time."""

_NAME = re.compile(r"\d|[^\W_][-_./:@#\\$][^\W_]|[a-z][A-Z]")


@cache
def _encoding() -> "Encoding":
    return encodings.get("o200k_base")


def words(text: str) -> list[str]:
    """The different words of a text, in lower case and in their order."""
    if text.isascii():
        found = _ASCII_WORD.findall(text.lower())
        if len(text) > _LONGEST:
            found = [word[:_LONGEST] for word in found]
    else:
        found = [word[:_LONGEST].casefold() for word in _WORD.findall(text)]
    return list(dict.fromkeys(found))


@lru_cache(100_000)
def information(word: str) -> int:
    """Information of a word, in 1/256 bit: little for a common word, much for a name or a
    number."""
    ranks = _encoding().encode_ordinary(f" {word}")
    return max(0, int(BIT * (sum(math.log2(rank + 2) for rank in ranks) - _COMMON)))


def tokens(text: str) -> int:
    """o200k tokens of a line."""
    return len(_encoding().encode_ordinary(text))


def letters(text: str) -> float:
    """The share of letters and spaces."""
    return sum(char.isalpha() or char == " " for char in text) / max(1, len(text))


def names(text: str) -> list[str]:
    """The words of a text that name something: with a digit, a mark or a capital inside."""
    return list(dict.fromkeys(word for word in _WORD.findall(text) if _NAME.search(word)))
