"""The dry run: what a plan would do, item by item, as plain data."""

from collections import Counter

from msgspec import Struct

from pinfold.compaction.plan import CompactionPlan, Verdict
from pinfold.compaction.rendering import rendered, rendered_now, tokens_of
from pinfold.compaction.view import WindowView
from pinfold.numbers import tokens as brief
from pinfold.ports.provider import WindowSource
from pinfold.rollout.items import Item, Kind
from pinfold.window.overview import first_words
from pinfold.window.reading import Source

KEEPS_MORE = "A digest of the same size usually keeps more and needs no model: checkpoint."
"""The hint beside strategies that have a model write."""
UNREADABLE = "Unreadable: only the model that this window belongs to can make sense of it."


class ReportRow(Struct, frozen=True):
    """An item of the window."""

    n: int
    kind: Kind
    name: str
    """The tool's, for calls and results."""
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


class DryRunReport(Struct, frozen=True):
    """Tokens of rows and insertions are counted here; all others are the gauge's."""

    strategy: str
    rows: tuple[ReportRow, ...]
    inserted: tuple[Inserted, ...]
    before: int
    """The whole request."""
    after: int
    context: int
    limit: int
    reserve: int
    headroom: int
    kept: int
    """Items that stay as they are, pinned ones included."""
    pinned: int
    masked: int
    archived: int
    """Items that leave, folded ones included."""
    uncached: int
    """Tokens after the first change, which a prompt cache loses."""
    told: tuple[str, ...]
    """How the plan was made."""
    notes: tuple[str, ...]
    """What the user should heed."""
    source: Source = "estimated"
    """Where `before` comes from; `after` is counted here and corrected by the same reports."""
    window_source: WindowSource = "config"
    """Where `limit` comes from."""


def report_of(view: WindowView, plan: CompactionPlan) -> DryRunReport:
    """What `plan` would do to the window that it was made from."""
    rows = tuple(
        ReportRow(
            n=item.n,
            kind=entry.item.kind,
            name=entry.item.name or "",
            words=first_words(entry.item),
            verdict=item.verdict,
            reason=item.reason,
            before=item.before,
            after=item.after,
        )
        for entry, item in zip(view.entries, plan.items, strict=True)
    )
    sizes, kept, masked, archived = plan.sizes, *_counts(plan)
    return DryRunReport(
        strategy=plan.strategy,
        rows=rows,
        inserted=tuple(_inserted(item, view) for item in plan.inserted),
        before=sizes.context + sizes.before,
        after=sizes.context + sizes.after,
        context=sizes.context,
        limit=sizes.limit,
        reserve=sizes.reserve,
        headroom=sizes.headroom,
        kept=kept,
        pinned=sum(item.verdict == "pin" for item in plan.items),
        masked=masked,
        archived=archived,
        uncached=_uncached(view, plan),
        told=plan.told,
        notes=plan.notes,
        source=view.source,
        window_source=view.window_source,
    )


def completion(plan: CompactionPlan) -> str:
    """The outcome of a compaction, on one line."""
    sizes, kept, masked, archived = plan.sizes, *_counts(plan)
    masking = f"masked {masked:,}; " if masked else ""
    return (
        f"Compaction complete: {brief(sizes.context + sizes.before)} → "
        f"{brief(sizes.context + sizes.after)} tokens; "
        f"kept {kept:,}; {masking}archived {archived:,}; headroom {sizes.headroom:,}"
    )


def _counts(plan: CompactionPlan) -> tuple[int, int, int]:
    verdicts = Counter(item.verdict for item in plan.items)
    stay = verdicts["keep"] + verdicts["pin"]
    less = verdicts["mask"] + verdicts["shorten"]
    return stay, less, len(plan.items) - stay - less


def _inserted(item: Item, view: WindowView) -> Inserted:
    instead_of = item.detail.get("replaces")
    text = UNREADABLE if item.kind == "compaction" else item.content
    return Inserted(item.kind, text, view.count_item(item), instead_of)


def _uncached(view: WindowView, plan: CompactionPlan) -> int:
    now = rendered_now(view)
    then = rendered(view, plan.window, plan.inserted)
    same = 0
    for one, other in zip(now, then, strict=False):
        if one != other:
            break
        same += 1
    return view.correct_items(sum(tokens_of(shown, view) for shown in now[same:]))
