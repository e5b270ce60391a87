"""Whether words stand in a text: one after the other, whatever their case, space and quotes."""

import re
import unicodedata
from collections.abc import Iterable

from pinfold.rollout.provenance import Span, sentences

_TOKEN = re.compile(r"[\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7af]|\w+|[^\w\s]")
"""Scripts that put no spaces between words count by the letter."""
_QUOTES = frozenset("\"'`´‘’‚‛“”„‟«»‹›")
_END = "\0"


def find(quote: str, text: str) -> Span | None:
    """Where the words of `quote` stand in `text`, first; None where they don't."""
    wanted = [word for word, _ in _tokens(quote)]
    told = [at for at, word in enumerate(wanted) if any(map(str.isalnum, word))]
    if not told:
        return None
    wanted = wanted[told[0] : told[-1] + 1]  # the marks around it are the writer's
    found = _tokens(text)
    whole = _END + "".join(word + _END for word, _ in found)
    at = whole.find(_END + "".join(word + _END for word in wanted))
    if at < 0:
        return None
    first = whole.count(_END, 0, at)
    return found[first][1][0], found[first + len(wanted) - 1][1][1]


def around(text: str, span: Span) -> str:
    """The sentences of `text` in which a span of it lies, on one line; a tab ends a number of a
    line, or a cell."""
    touched = [each for each in sentences(text) if each[0] < span[1] and span[0] < each[1]]
    start = min((start for start, _ in touched), default=span[0])
    end = max((end for _, end in touched), default=span[1])
    start = text.rfind("\t", start, span[0]) + 1 or start
    return " ".join(text[start:end].split())


def found_in(quote: str, texts: Iterable[str]) -> str:
    """The sentences of the first of `texts` in which the quote stands; empty where in none."""
    for text in texts:
        if span := find(quote, text):
            return around(text, span)
    return ""


def _tokens(text: str) -> list[tuple[str, Span]]:
    return [
        (unicodedata.normalize("NFKC", found[0]).casefold(), found.span())
        for found in _TOKEN.finditer(text)
        if found[0] not in _QUOTES and found[0] != _END
    ]
