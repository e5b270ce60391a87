"""The parts of a text that a host wrote between its own tags."""

import re

Spans = list[list[int]]
"""Start and end, in characters; ordered, without overlap."""


def between(text: str, opening: re.Pattern[str]) -> Spans:
    """The spans of tags that `opening` matches; its first group is the name. An unclosed tag has
    none."""
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
    """The content of the first `tag` in the text; empty if there is none."""
    _, opened, rest = text.partition(f"<{tag}>")
    held, closed, _ = rest.partition(f"</{tag}>")
    return held.strip() if opened and closed else ""
