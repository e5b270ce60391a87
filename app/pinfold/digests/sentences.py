"""Texts as sentences, without what decorates them."""

import re

from pinfold.sanitize import one_line

_FENCED = re.compile(
    r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE
)
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]*_]*\s+(?=[^\sa-z])|(?<=[。！？])")
_RULE = re.compile(r"[-=_*|:+\s]+")
_DECORATION = re.compile(r"^(?:(?:#+|[>*•-])\s+)+|\*\*|\|[ \t]*$|^\|")
_LEAST_CODE = 4
"""Characters of the shortest line of code that is kept."""


def sentences(text: str) -> list[str]:
    """The sentences, each on one line; a line end ends a sentence. Code blocks are left out."""
    told = (
        one_line(part) for line in _FENCED.sub("", text).splitlines() for part in _END.split(line)
    )
    return [sentence for sentence in told if sentence and not _RULE.fullmatch(sentence)]


def code(text: str) -> list[str]:
    """The lines of its code blocks."""
    lines = (one_line(line) for block in _FENCED.finditer(text) for line in block[2].splitlines())
    return [line for line in lines if len(line) >= _LEAST_CODE]


def plain(sentence: str) -> str:
    """Without marks of headings, lists, quotes, tables and bold type."""
    return _DECORATION.sub("", sentence).strip()


def ends(text: str, most: int) -> str:
    """A text of at most `most` characters: its beginning and its end, where failures are."""
    if len(text) <= most:
        return text
    head = (most - 3) * 5 // 8
    return f"{text[:head].rstrip()} … {text[len(text) - (most - 3 - head) :].lstrip()}"
