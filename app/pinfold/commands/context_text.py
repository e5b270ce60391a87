"""The window as text, for the context panel and `pinfold context`."""

from collections.abc import Iterator
from datetime import datetime

from pinfold.numbers import tokens
from pinfold.ports.provider import DOUBTFUL
from pinfold.rollout.items import Form, Kind
from pinfold.sanitize import one_line
from pinfold.window.overview import ContextRow, ItemRow, Overview

KINDS: dict[Kind, str] = {
    "user": "user",
    "assistant": "reply",
    "reasoning": "thought",
    "tool_call": "call",
    "tool_result": "result",
    "checkpoint": "checkpoint",
    "summary": "summary",
    "compaction": "compaction",
    "context": "context",
}
PARTS = {
    "instructions": "system",
    "AGENTS.md": "AGENTS.md",
    "tools": "tool",
    "servers": "server",
    "memories": "memories",
}
SIGNS = {"pinned": "⚑", "shortened": "◑", "masked": "◐", "folded": "○"}
"""By what stays of an item: all, its ends, its call, a line at most."""
_FORMS: dict[Form, str] = {
    "full": "",
    "short": "shortened",
    "masked": "masked",
    "placeholder": "folded",
}
_WORDS = 72
"""Characters of an item's text on a line."""


def kind(row: ContextRow | ItemRow) -> str:
    """What a row is, in one word."""
    return KINDS[row.kind] if isinstance(row, ItemRow) else PARTS[row.part]


def words(row: ContextRow | ItemRow) -> str:
    """The tool and the beginning of the item; for a part before the window, its name."""
    if isinstance(row, ContextRow):
        return one_line(row.name)
    if row.agent:
        return one_line(row.agent)
    said = one_line(row.words)
    return f"{one_line(row.name)} {said}".strip() if row.name else said


def marks(row: ContextRow | ItemRow) -> tuple[str, ...]:
    """`pinned`, `masked`, `folded`: how it differs from a plain item."""
    if isinstance(row, ContextRow):
        return ("folded",) if row.folded else ()
    form = _FORMS[row.form]
    return tuple(mark for mark in ("pinned" if row.pin is not None else "", form) if mark)


def age(at: datetime, now: datetime) -> str:
    """`now`, `3m`, `2h`, `5d`."""
    seconds = (now - at).total_seconds()
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size:.0f}{unit}"
    return "now"


def facts(overview: Overview) -> list[str]:
    """What the gauge does not show: the window's number, the reserve, counts of items."""
    reading, rows = overview.reading, overview.rows
    counts = dict.fromkeys(SIGNS, 0)
    for row in rows:
        for mark in marks(row):
            counts[mark] += 1
    threshold, source = reading.threshold, reading.window_source
    return [
        *([f"window {source}"] if source in DOUBTFUL else ()),
        f"{len(rows):,} item{'s' if len(rows) != 1 else ''}",
        *(f"{count:,} {mark}" for mark, count in counts.items() if count),
        "automatic compaction off" if threshold is None else f"compacts at {tokens(threshold)}",
        f"{tokens(reading.reserve)} reserved for the reply",
        f"window {overview.generation}",
        *(["no prompt cache here"] if reading.never_cached else ()),
    ]


def lines(overview: Overview, now: datetime) -> Iterator[str]:
    """The whole window, a line for each item."""
    reading = overview.reading
    share = reading.used / reading.limit if reading.limit else 0.0
    yield f"{reading.used:,} of {reading.limit:,} tokens ({share:.0%}), {reading.source}"
    yield " · ".join(facts(overview))
    yield " · ".join(f"{name} {count:,}" for name, count in reading.segments)
    yield ""
    for part in overview.context:
        signs = "".join(SIGNS[mark] for mark in marks(part))
        yield f"{'':>7}  {kind(part):<10}  {part.tokens:>9,}  {'':>4}  {signs:<2} {words(part)}"
    for row in overview.rows:
        signs = "".join(SIGNS[mark] for mark in marks(row))
        files = f"  [{', '.join(map(one_line, row.files))}]" if row.files else ""
        yield (
            f"{f'#{row.n}':>7}  {kind(row):<10}  {row.tokens:>9,}  {age(row.at, now):>4}"
            f"  {signs:<2} {one_line(words(row), _WORDS)}{files}"
        )
