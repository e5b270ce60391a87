"""Tokens of a text by its looks alone, for when no encoding is at hand.

The weights were fitted to o200k_base over prose, code, logs and many languages: half of the
estimates are within 10%, nineteen in twenty within 41%.
"""

import math
import re

_WORD = re.compile(r"[A-Za-z]+")
_LONG_WORD = re.compile(r"[A-Za-z]{7,}")
_DIGITS = re.compile(r"[0-9]{1,3}")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]+")
_SPACE = re.compile(r"\s{2,}|[^\S ]")
_SPACES_PER_TOKEN = 32


def estimate(text: str) -> int:
    """About how many tokens `text` has; rounded up."""
    long_words = _LONG_WORD.findall(text)
    punctuation = _PUNCTUATION.findall(text)
    spaces = _SPACE.findall(text)
    ascii_characters = len(text.encode("ascii", "ignore"))
    return math.ceil(
        0.99 * len(_WORD.findall(text))
        + 0.34 * (sum(map(len, long_words)) - 6 * len(long_words))
        + 1.1 * len(_DIGITS.findall(text))
        + 0.47 * len(punctuation)
        + 0.40 * (sum(map(len, punctuation)) - len(punctuation))
        + 1.9 * len(spaces)
        + sum(map(len, spaces)) // _SPACES_PER_TOKEN
        + 0.36 * (len(text.encode("utf-8", "surrogatepass")) - ascii_characters)
    )
