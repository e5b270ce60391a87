"""Normalises texts and queries for the index by the same rule."""

import re

SEPARATOR = "\u200b"
"""Between characters of scripts that write no spaces: each of them is a word of the index."""
BEGINNING = 3
"""Characters from which the last word of a query may be the beginning of one."""
WORDS = 12
"""Words of a query that count."""

_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003fa1f])"
)
_ENDLESS = re.compile(r"[A-Za-z0-9+/=_-]{200,}")
"""Base64 and the like, which is not indexed."""
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


def indexed(text: str) -> str:
    """A text with a separator after each character of a script without spaces."""
    text = _ENDLESS.sub(lambda found: found[0][:200], _UNSTORABLE.sub(" ", text))
    return text if text.isascii() else _UNSPACED.sub(rf"{SEPARATOR}\1{SEPARATOR}", text)


def shown(text: str) -> str:
    """Undo `indexed`: the text without separators."""
    return text.replace(SEPARATOR, "")


def terms(query: str) -> list[str]:
    """The words of what a user typed, as phrases of FTS5; the rest of its syntax means nothing."""
    words = [word for word in indexed(query).split() if any(map(str.isalnum, word))]
    return ['"{}"'.format(word.replace('"', '""')) for word in words[:WORDS]]


def may_begin(query: str) -> bool:
    """Whether the last word of a query may be the beginning of one."""
    words = query.split()
    if not words or query[-1:].isspace():
        return False
    return sum(map(str.isalnum, words[-1])) >= BEGINNING
