"""Finds quotes in a text: the same words in a row, whatever their case, space and quotes."""

import re
from collections.abc import Iterable
from itertools import pairwise

from pinfold.rollout.provenance import Span, sentences

LONGEST = 1_000
"""Characters of a quote; nobody copies more."""
_UNSPACED = "\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7af"
"""Scripts that put no spaces between words count by the letter."""
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]")
_WORD = re.compile(rf"[^\W{_UNSPACED}]+")
_QUOTES = "\"'`´‘’‚‛“”„‟«»‹›"
_GAP = rf"[\s{_QUOTES}]"


def find(quote: str, text: str) -> Span | None:
    """Where the words of `quote` first are in `text`; None if they are not."""
    words = [word for word in _TOKEN.findall(quote[: LONGEST + 1]) if word not in _QUOTES]
    told = [at for at, word in enumerate(words) if any(map(str.isalnum, word))]
    if not told or len(quote) > LONGEST:
        return None
    words = words[told[0] : told[-1] + 1]  # the marks around it are the writer's
    pattern = re.escape(words[0])
    for one, two in pairwise(words):
        apart = _WORD.fullmatch(one) and _WORD.fullmatch(two)
        pattern += f"{_GAP}{'+' if apart else '*'}{re.escape(two)}"
    search, at = re.compile(pattern, re.IGNORECASE).search, 0
    # The edges are checked here: compiling their ranges takes longer than the search.
    while found := search(text, at):
        start, end = found.span()
        goes_on = _WORD.fullmatch(words[0]) and _WORD.fullmatch(text[start - 1 : start])
        if not goes_on and not (_WORD.fullmatch(words[-1]) and _WORD.match(text, end)):
            return start, end
        at = start + 1
    return None


def around(text: str, span: Span) -> str:
    """The sentences of `text` in which a span of it lies, on one line; a tab ends a number of a
    line, or a cell."""
    touched = [
        sentence for sentence in sentences(text) if sentence[0] < span[1] and span[0] < sentence[1]
    ]
    start = min((start for start, _ in touched), default=span[0])
    end = max((end for _, end in touched), default=span[1])
    start = text.rfind("\t", start, span[0]) + 1 or start
    return " ".join(text[start:end].split())


def found_in(quote: str, texts: Iterable[str]) -> str:
    """The sentences around the quote in the first of `texts` that has it; empty if none has."""
    for text in texts:
        if span := find(quote, text):
            return around(text, span)
    return ""
