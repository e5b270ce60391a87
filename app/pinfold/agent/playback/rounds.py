"""The compactions of a recording that was played, as a table."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from pinfold.numbers import tokens
from pinfold.rollout.items import Form
from pinfold.window.reading import GaugeReading
from pinfold.window.window import Boundary, Window

_LESS = ("short", "masked")
_HEAD = ("after", "by", "tokens", "", "kept", "masked", "archived", "headroom")


class Round(Struct, frozen=True):
    """One compaction. Tokens are the gauge's, of the whole request."""

    after_item: int
    """The last item that the old window had seen."""
    generation: int
    """Of the new window."""
    reason: str
    strategy: str
    before: int
    after: int
    kept: int
    """Items whose form did not change."""
    masked: int
    archived: int
    inserted: int
    headroom: int
    """Tokens free, before the reserve for the reply."""


def round_of(
    forms: Mapping[int, Form],
    before: GaugeReading,
    window: Window,
    after: GaugeReading,
    made: Boundary,
) -> Round:
    """The round that made `window` from one with these forms."""
    now = window.forms
    return Round(
        after_item=made.last,
        generation=made.generation,
        reason=made.reason,
        strategy=made.strategy or made.reason,
        before=before.used,
        after=after.used,
        kept=sum(now.get(n) == form for n, form in forms.items()),
        masked=sum(form != now.get(n) in _LESS for n, form in forms.items()),
        archived=sum(now.get(n) not in (form, *_LESS) for n, form in forms.items()),
        inserted=len(made.inserted),
        headroom=after.usable - after.used,
    )


def lines(rounds: Sequence[Round]) -> Iterator[str]:
    """A table for people, narrow enough for a note in 80 columns."""
    if not rounds:
        yield "Nothing was compacted."
        return
    rows = [_HEAD, *(_cells(compaction) for compaction in rounds)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEAD))]
    for row in rows:
        cells = (
            cell.ljust(width) if at == 1 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield " ".join(cells).rstrip()


def _cells(compaction: Round) -> tuple[str, ...]:
    less = 1 - compaction.after / compaction.before if compaction.before else 0.0
    return (
        f"#{compaction.after_item}",
        compaction.strategy,
        f"{tokens(compaction.before)} → {tokens(compaction.after)}",
        f"{'−' if less >= 0 else '+'}{abs(less):.0%}",
        f"{compaction.kept:,}",
        f"{compaction.masked:,}",
        f"{compaction.archived:,}",
        f"{compaction.headroom:,}",
    )
