"""A compaction as text, for `pinfold compact` and `/compact --verbose`."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from pinfold.commands.context_text import KINDS
from pinfold.compaction.plan import Verdict
from pinfold.compaction.report import KEEPS_MORE, DryRunReport, ReportRow
from pinfold.numbers import dollars, tokens
from pinfold.ports.provider import WindowSource
from pinfold.sanitize import one_line

if TYPE_CHECKING:
    from pinfold.agent.compaction.summarizing import Quote

_VERDICTS: dict[Verdict, tuple[str, str]] = {
    "keep": (" ", "kept"),
    "pin": ("^", "pinned"),
    "shorten": ("~", "shortened"),
    "mask": ("~", "masked"),
    "fold": ("/", "folded"),
    "archive": ("-", "archived"),
    "replace": ("-", "replaced"),
}
"""Sign and word."""
_FROM: dict[WindowSource, str] = {
    "config": "from the settings",
    "server": "as the server reports",
    "table": "known for this model",
    "assumed": "assumed",
    "learned": "learned from a refused request",
}
_WORDS = 44
"""Characters of an item's text on a line."""
_RUN = 6
"""Longest run of items with one verdict that gets a line per item."""


def price(quote: "Quote", used: int) -> str:
    """What a strategy that uses a model will cost."""
    cost = ""
    if quote.cost is not None:
        cached = "" if quote.cached is None else f" ({dollars(quote.cached)} from its prompt cache)"
        cost = f", about {dollars(quote.cost)}{cached}"
    return f"{one_line(quote.model)} reads about {tokens(used)} tokens{cost}. {KEEPS_MORE}"


def lines(report: DryRunReport, *, verbose: bool) -> Iterator[str]:
    """The report; unless `verbose`, a long run of items with one verdict is one line."""
    share = f"{1 - report.after / report.before:.0%} less" if report.before else ""
    yield f"Strategy {report.strategy}: {report.before:,} → {report.after:,} tokens, {share}"
    yield (
        f"kept {report.kept:,} (pinned {report.pinned:,}); masked {report.masked:,}; "
        f"archived {report.archived:,}; free {report.headroom:,} of {report.limit:,}, "
        f"{report.reserve:,} reserved for the reply"
    )
    cached = f"; invalidates {report.uncached:,} cached tokens" if report.uncached else ""
    yield f"instructions and tools {report.context:,}{cached}"
    yield f"tokens {report.source}; window of {report.limit:,} {_FROM[report.window_source]}"
    yield from report.told
    yield from (f"note: {note}" for note in report.notes)
    for inserted in report.inserted:
        if inserted.instead_of is None:
            yield ""
            yield f"+ {KINDS[inserted.kind]}, {inserted.tokens:,} tokens"
            yield from (f"  | {line}".rstrip() for line in inserted.text.splitlines())
    yield ""
    width = max((len(f"#{row.n}") for row in report.rows), default=0)
    replaced = {inserted.instead_of: inserted.tokens for inserted in report.inserted}
    for _, run in groupby(report.rows, lambda row: (row.verdict, row.reason)):
        rows = list(run)
        after = [row.after + replaced.get(row.n, 0) for row in rows]
        if len(rows) > _RUN and not verbose:
            yield _together(rows, sum(after))
        else:
            yield from (_alone(row, n, width) for row, n in zip(rows, after, strict=True))


def _together(rows: Sequence[ReportRow], after: int) -> str:
    before = sum(row.before for row in rows)
    tokens = f"{before:,}" if after in (0, before) else f"{before:,} → {after:,}"
    sign, what = _fate(rows[0])
    return f"{sign} #{rows[0].n}..#{rows[-1].n} {what} ({len(rows):,} items, {tokens} tokens)"


def _alone(row: ReportRow, after: int, width: int) -> str:
    sign, what = _fate(row)
    words = one_line(f"{row.name} {row.words}", _WORDS)
    named = f"#{row.n}".rjust(width)
    counts = f"{row.before:>7,} → {after:>7,}"
    return f"{sign} {named}  {KINDS[row.kind]:<10} {counts}  {what}  {words}".rstrip()


def _fate(row: ReportRow) -> tuple[str, str]:
    """An item's sign, and its verdict with the reason."""
    sign, word = _VERDICTS[row.verdict]
    if row.reason.startswith(word):  # as in “pinned by #12”
        return sign, row.reason
    return sign, f"{word}: {row.reason}" if row.reason else word
