"""Excerpts: the part of a text that best matches a query, and the two ends of a long one."""

import re
from collections import Counter
from itertools import islice

WIDTH = 240
"""Characters of a snippet."""
MAX_LINE = 2_000
"""Characters of a line that are shown."""
_HITS = 20_000
"""Places that are looked at."""
_TOKEN = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"(?:ions?|ings?|ed|e?s|e)$")


def snippet(text: str, query: str) -> str:
    """The `WIDTH` characters of `text` with the most of the words of `query`, on one line."""
    tokens = set(_TOKEN.findall(query.lower()))
    # A word as it was asked for weighs more than another form of it.
    forms = sorted(tokens | set(map(_stem, tokens)), key=lambda form: (-len(form), form))
    start = end = 0
    if forms:
        words = re.compile("|".join(map(_pattern, forms)), re.IGNORECASE)
        hits = [(hit.start(), hit[0].lower()) for hit in islice(words.finditer(text), _HITS)]
        start, end = _densest(hits)
    begin = max(0, start - (WIDTH - (end - start)) // 2)
    stop = begin + WIDTH
    shown = " ".join(text[begin:stop].split())
    return f"{'…' if begin else ''}{shown}{'…' if stop < len(text) else ''}"


def numbered(number: int, line: str) -> str:
    """A line with its number, as `read_file` shows it; cut if it is too long."""
    rest = len(line) - MAX_LINE
    return f"{number}\t{line[:MAX_LINE]}" + (f"… ({rest:,} more characters)" if rest > 0 else "")


def size(text: str) -> int:
    """Bytes."""
    return len(text.encode())


def head(text: str, limit: int) -> str:
    """The beginning of `text`, at most `limit` bytes, in whole lines where they are not endless."""
    if size(text) <= limit:
        return text
    found = text[:limit].encode()[:limit].decode(errors="ignore")
    return found[: found.rfind("\n") + 1] or found


def tail(text: str, limit: int) -> str:
    """The end of `text`, in the same way."""
    found = text[-limit:].encode()[-limit:].decode(errors="ignore")
    return found[found.find("\n", 0, -1) + 1 :]


def _stem(token: str) -> str:
    stem = _ENDING.sub("", token)
    return stem if len(stem) > 2 else token


def _pattern(form: str) -> str:
    return form if len(form) > 2 else rf"\b{form}\b"


def _densest(hits: list[tuple[int, str]]) -> tuple[int, int]:
    """The first and last hit of the stretch whose different words are longest together."""
    best, span = 0, (0, 0)
    inside: Counter[str] = Counter()
    left = weight = 0
    for at, word in hits:
        weight += len(word) * (not inside[word])
        inside[word] += 1
        while at - hits[left][0] > WIDTH // 2:
            gone = hits[left][1]
            inside[gone] -= 1
            weight -= len(gone) * (not inside[gone])
            left += 1
        if weight > best:
            best, span = weight, (hits[left][0], at)
    return span
