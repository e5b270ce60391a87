"""The dry run: what a plan would do, item by item, as text and as plain data."""

from collections.abc import Iterator

from msgspec import Struct

from pinfold.compaction.draft import rendered, rendered_now, tokens_of
from pinfold.compaction.plan import CompactionPlan, Verdict
from pinfold.compaction.view import WindowView
from pinfold.numbers import tokens as brief
from pinfold.rollout.items import Item, Kind
from pinfold.window.overview import first_words

_SIGNS: dict[Verdict, str] = {
    "keep": " ",
    "pin": "^",
    "mask": "~",
    "fold": "/",
    "archive": "-",
    "replace": "-",
}
_WORDS = 44


class Row(Struct, frozen=True):
    """An item of the window."""

    n: int
    kind: Kind
    words: str
    verdict: Verdict
    reason: str
    before: int
    after: int


class Inserted(Struct, frozen=True):
    kind: Kind
    text: str
    tokens: int
    instead_of: int | None
    """The item whose place it takes, where it is one."""


class Report(Struct, frozen=True):
    """Tokens of rows and insertions are counted here, all others are the gauge's."""

    strategy: str
    rows: tuple[Row, ...]
    inserted: tuple[Inserted, ...]
    before: int
    """The whole request."""
    after: int
    context: int
    limit: int
    reserve: int
    headroom: int
    kept: int
    """Items that stay, the pinned and the masked among them."""
    pinned: int
    masked: int
    archived: int
    """Items that go, the folded among them."""
    uncached: int
    """Tokens now in the window behind the first change, which a prompt cache loses."""
    notes: tuple[str, ...]


def report_of(view: WindowView, plan: CompactionPlan) -> Report:
    """What `plan` would do to the window that it was made from."""
    rows = tuple(
        Row(
            n=each.n,
            kind=entry.item.kind,
            words=first_words(entry.item),
            verdict=each.verdict,
            reason=each.reason,
            before=each.before,
            after=each.after,
        )
        for entry, each in zip(view.entries, plan.items, strict=True)
    )
    verdicts = [row.verdict for row in rows]
    sizes = plan.sizes
    return Report(
        strategy=plan.strategy,
        rows=rows,
        inserted=tuple(_inserted(item, view) for item in plan.inserted),
        before=sizes.context + sizes.before,
        after=sizes.context + sizes.after,
        context=sizes.context,
        limit=sizes.limit,
        reserve=sizes.reserve,
        headroom=sizes.headroom,
        kept=sum(verdict in ("keep", "pin", "mask") for verdict in verdicts),
        pinned=verdicts.count("pin"),
        masked=verdicts.count("mask"),
        archived=sum(verdict in ("archive", "replace", "fold") for verdict in verdicts),
        uncached=_uncached(view, plan),
        notes=plan.notes,
    )


def completion(report: Report) -> str:
    """What a compaction came to, on one line."""
    masked = f"masked {report.masked:,}; " if report.masked else ""
    return (
        f"Compaction complete: {brief(report.before)} → {brief(report.after)} tokens; "
        f"kept {report.kept:,}; {masked}archived {report.archived:,}; "
        f"headroom {report.headroom:,}"
    )


def lines(report: Report) -> Iterator[str]:
    """The report as text."""
    share = f"{1 - report.after / report.before:.0%} less" if report.before else ""
    yield f"Strategy {report.strategy}: {report.before:,} → {report.after:,} tokens, {share}"
    yield (
        f"kept {report.kept:,} (pinned {report.pinned:,}, masked {report.masked:,}); "
        f"archived {report.archived:,}; headroom {report.headroom:,} of {report.limit:,}, "
        f"{report.reserve:,} reserved for the reply"
    )
    yield f"instructions and tools {report.context:,}; the prompt cache loses {report.uncached:,}"
    yield from (f"note: {note}" for note in report.notes)
    for inserted in report.inserted:
        if inserted.instead_of is None:
            yield ""
            yield f"+ {inserted.kind}, {inserted.tokens:,} tokens"
            yield from (f"  | {line}".rstrip() for line in inserted.text.splitlines())
    yield ""
    width = max((len(f"#{row.n}") for row in report.rows), default=0)
    replaced = {each.instead_of: each.tokens for each in report.inserted}
    for row in report.rows:
        words = row.words if len(row.words) <= _WORDS else row.words[: _WORDS - 1] + "…"
        after = row.after + replaced.get(row.n, 0)
        counts = f"{row.before:>7,} → {after:>7,}"
        what = f"{row.verdict}: {row.reason}" if row.reason else row.verdict
        named = f"#{row.n}".rjust(width)
        yield f"{_SIGNS[row.verdict]} {named} {row.kind:<11} {counts}  {what}  “{words}”"


def _inserted(item: Item, view: WindowView) -> Inserted:
    instead_of = item.detail.get("replaces")
    return Inserted(item.kind, item.content, view.count_item(item), instead_of)


def _uncached(view: WindowView, plan: CompactionPlan) -> int:
    now = rendered_now(view)
    then = rendered(view, plan.window, plan.inserted)
    same = 0
    for one, other in zip(now, then, strict=False):
        if one != other:
            break
        same += 1
    return view.corrected(sum(tokens_of(shown, view) for shown in now[same:]))
