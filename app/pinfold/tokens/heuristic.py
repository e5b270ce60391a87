"""Estimates the tokens of a text without an encoding.

The weights were fitted to o200k_base over prose, code, logs and many languages. Of what coding
agents read and write, half of the estimates are within 6% and nineteen in twenty within 22%; where
an alphabet's cost differs between encodings, the estimate is rather over than under.
"""

import math
import re

_RULE = re.compile(r"([!-/:-@\[-`{-~\u2500-\u259f])\1{3,}")
"""A repeated sign, as in a drawn line."""
_SPACE = re.compile(r"\s{2,}|[^\S ]")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]+")
_WEIGHTS = (
    (re.compile(r"[A-Z]?[a-z]+|[A-Z]+"), 0.99),
    (re.compile(r"[0-9]{1,3}"), 1.1),
    (re.compile(r"[\x00-\x08\x0e-\x1b\x7f]"), 0.6),
)
_BEYOND_ASCII = (
    (re.compile(r"[\u00c0-\u024f\u1e00-\u1eff]"), 1.0),  # Latin letters with marks
    (re.compile(r"[\u0370-\u10ff]"), 0.6),  # alphabets, from Greek to Georgian
    (re.compile(r"[\u3040-\ud7ff\uf900-\ufaff]"), 1.1),  # Chinese, Japanese, Korean
    (
        re.compile(r"[\x80-\xbf\u0250-\u036f\u1100-\u1dff\u1f00-\u303f\ud800-\uf8ff\ufb00-\uffff]"),
        1.5,
    ),
    (re.compile(r"[\U00010000-\U0010ffff]"), 2.3),  # emoji
)
"""Characters by script, and what each costs."""
_LONG_WORD, _LONG_NAME = re.compile(r"[a-z]{7,}"), re.compile(r"[A-Z]{4,}")
_PIECE = 65_536
"""Characters; the interpreter is held no longer than one piece takes, some 10 ms."""


def estimate(text: str) -> int:
    """About how many tokens `text` has; rounded up."""
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    return math.ceil(sum(map(_estimate, pieces)))


def _estimate(text: str) -> float:
    rules, characters = _measure(_RULE, text)
    if rules:
        text = _RULE.sub(" ", text)
    tokens = rules + characters / 16
    runs, characters = _measure(_PUNCTUATION, text)
    tokens += 0.47 * runs + 0.40 * (characters - runs)
    runs, characters = _measure(_SPACE, text)
    tokens += 1.9 * runs + characters / 32
    words, letters = _measure(_LONG_WORD, text)
    tokens += 0.34 * (letters - 6 * words)
    names, letters = _measure(_LONG_NAME, text)
    tokens += 0.45 * (letters - 3 * names)
    for pattern, weight in _WEIGHTS if text.isascii() else _WEIGHTS + _BEYOND_ASCII:
        tokens += weight * len(pattern.findall(text))
    return tokens


def _measure(pattern: re.Pattern[str], text: str) -> tuple[int, int]:
    """How many matches there are, and how many characters they have together."""
    found = [match.end() - match.start() for match in pattern.finditer(text)]
    return len(found), sum(found)
