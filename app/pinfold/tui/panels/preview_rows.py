"""The rows of the preview: the window before and after as one list, in order."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from pinfold.commands.context_text import KINDS
from pinfold.compaction.plan import CompactionPlan, Verdict
from pinfold.compaction.report import DryRunReport, Inserted, ReportRow
from pinfold.rollout.items import Kind
from pinfold.window import overview

VERDICTS: dict[Verdict, tuple[str, str]] = {
    "keep": (" ", "kept"),
    "pin": ("⚑", "pinned"),
    "shorten": ("◑", "shortened"),
    "mask": ("◐", "masked"),
    "fold": ("○", "folded"),
    "archive": ("−", "archived"),
    "replace": ("±", "replaced"),
}
"""Sign and word."""
INSERTED = ("+", "inserted")
RUN = 4
"""Consecutive items of one verdict from which on they share a line."""


class PreviewRow(Struct, frozen=True, gc=False):
    """An item of either window."""

    key: str
    """Unique, and the same in the next plan."""
    sign: str
    verdict: str
    kind: Kind
    words: str
    before: int
    after: int
    reason: str
    n: int | None = None
    """Its number; an inserted item has none yet."""
    inserted: Inserted | None = None
    run: tuple[int, ...] = ()
    """The items it collapses, if it is a run of one verdict."""

    @property
    def goes(self) -> bool:
        return self.inserted is None and self.after == 0


def rows_of(report: DryRunReport, plan: CompactionPlan, *, edited: bool) -> list[PreviewRow]:
    """Every item of the window, with inserted ones in their place.

    `edited` says that the user edited the text.
    """
    before, at_end = _places(report, plan)
    instead = {
        inserted.instead_of: at
        for at, inserted in enumerate(report.inserted)
        if inserted.instead_of
    }
    rows: list[PreviewRow] = []
    for row in report.rows:
        rows += (_inserted(report, at, edited=edited) for at in before.get(row.n, ()))
        rows.append(_item(row))
        if row.n in instead:
            rows.append(_inserted(report, instead[row.n], edited=edited))
    rows += (_inserted(report, at, edited=edited) for at in at_end)
    return rows


def collapsed(rows: Iterable[PreviewRow], opened: Collection[int]) -> list[PreviewRow]:
    """`rows` with a line for each run of one verdict, but for runs that hold an `opened` item."""
    shown: list[PreviewRow] = []
    for verdict, group in groupby(rows, lambda row: row.verdict):
        run = list(group)
        numbers = tuple(row.n for row in run if row.n is not None)
        apart = verdict in ("pinned", INSERTED[1]) or any(n in opened for n in numbers)
        shown += run if apart or len(run) < RUN else [_run(run, numbers)]
    return shown


def _run(rows: Sequence[PreviewRow], numbers: tuple[int, ...]) -> PreviewRow:
    first = rows[0]
    kinds = Counter("prompt" if row.kind == "user" else KINDS[row.kind] for row in rows)
    said = ", ".join(f"{count} {_plural(word, count)}" for word, count in kinds.most_common())
    return PreviewRow(
        f"run {numbers[0]}",
        first.sign,
        first.verdict,
        first.kind,
        f"▸ {len(rows)} items, #{min(numbers)} to #{max(numbers)}: {said}",
        sum(row.before for row in rows),
        sum(row.after for row in rows),
        first.reason if len({row.reason for row in rows}) == 1 else "",
        run=numbers,
    )


def _plural(word: str, count: int) -> str:
    if count == 1:
        return word
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def rows_now(rows: Iterable[overview.ItemRow]) -> Iterator[PreviewRow]:
    """The window as it is, where there is no plan."""
    for row in rows:
        verdict: Verdict = "pin" if row.pin is not None else "keep"
        words = f"{row.name} {row.words}" if row.name else row.words
        yield PreviewRow(
            str(row.n), *VERDICTS[verdict], row.kind, words, row.tokens, row.tokens, "", row.n
        )


def _places(report: DryRunReport, plan: CompactionPlan) -> tuple[dict[int, list[int]], list[int]]:
    """The inserted items that take no other's place, by the item that they are before."""
    before: dict[int, list[int]] = {}
    waiting: list[int] = []
    place = report.rows[0].n if report.rows else 0  # what comes first is above all that goes
    for n, _ in plan.window:
        if n < 0:
            if report.inserted[-n - 1].instead_of is None:
                waiting.append(-n - 1)
            continue
        if waiting:
            before[place or n], waiting = waiting, []
        place = 0
    return before, waiting


def _item(row: ReportRow) -> PreviewRow:
    words = f"{row.name} {row.words}" if row.name else row.words
    return PreviewRow(
        str(row.n),
        *VERDICTS[row.verdict],
        row.kind,
        words,
        row.before,
        row.after,
        row.reason,
        row.n,
    )


def _inserted(report: DryRunReport, at: int, *, edited: bool) -> PreviewRow:
    inserted = report.inserted[at]
    words = " ".join(inserted.text[:200].split())
    if inserted.instead_of is not None:
        reason = f"instead of #{inserted.instead_of}"
    else:
        reason = "as you edited it" if edited else f"made by {report.strategy}"
    key = f"+{inserted.instead_of or -at}"
    return PreviewRow(
        key, *INSERTED, inserted.kind, words, 0, inserted.tokens, reason, inserted=inserted
    )
