"""Prepares texts and queries for the index by the same rule."""

import re

SEPARATOR = "\u200b"
"""Between characters of scripts without spaces, so that each is a word of the index."""
BEGINNING = 3
"""Characters that the last word of a query needs to count as a beginning."""
WORDS = 12
"""Words of a query that are used."""

_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003fa1f])"
)
_ENDLESS = re.compile(r"[A-Za-z0-9+/=_-]{200,}")
"""Base64 and the like, of which only the beginning is indexed."""
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


def indexed(text: str) -> str:
    """A text with a separator after each character of a script without spaces."""
    text = _ENDLESS.sub(lambda found: found[0][:200], _UNSTORABLE.sub(" ", text))
    return text if text.isascii() else _UNSPACED.sub(rf"{SEPARATOR}\1{SEPARATOR}", text)


def shown(text: str) -> str:
    """The text without the separators of `indexed`."""
    return text.replace(SEPARATOR, "")


def terms(query: str) -> list[str]:
    """The words that a user typed, as FTS5 phrases; the rest of FTS5's syntax has no effect."""
    words = [word for word in indexed(query).split() if any(map(str.isalnum, word))]
    return ['"{}"'.format(word.replace('"', '""')) for word in words[:WORDS]]


def may_begin(query: str) -> bool:
    """Whether the last word of a query may be a beginning."""
    words = query.split()
    if not words or query[-1:].isspace():
        return False
    return sum(map(str.isalnum, words[-1])) >= BEGINNING
