"""What a host wrote into the texts of a session, between tags of its own."""

import re

Spans = list[list[int]]
"""Start and end, in characters; in order, apart."""


def between(text: str, opening: re.Pattern[str]) -> Spans:
    """Where tags that `opening` matches stand, with what they hold. Its first group is their name.

    A tag that nothing closes holds nothing.
    """
    found: Spans = []
    end = 0
    unclosed: set[str] = set()
    for match in opening.finditer(text):
        name = match[1]
        if match.start() < end or name in unclosed:
            continue
        close = text.find(f"</{name}>", match.end())
        if close < 0:
            unclosed.add(name)
            continue
        end = close + len(name) + 3
        found.append([match.start(), end])
    return found


def shifted(spans: Spans, by: int) -> Spans:
    return [[start + by, end + by] for start, end in spans]


def inside(text: str, tag: str) -> str:
    """What the first `tag` in the text holds; empty where there is none."""
    _, opened, rest = text.partition(f"<{tag}>")
    held, closed, _ = rest.partition(f"</{tag}>")
    return held.strip() if opened and closed else ""
