"""`snapshot`: the state of the work as `summary_v1`, then pins, what roles keep, and the tail."""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from pinfold.compaction import prompts
from pinfold.compaction.assembly import assemble
from pinfold.compaction.inserted import Summary
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.roles import kept
from pinfold.compaction.strategy import Material, Traits
from pinfold.compaction.summary import SummaryEntry, bare, entries_of, text_of, to_detail, within
from pinfold.compaction.synthesis import Synthesis, is_read
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.ports.summarizer import Summarizer
from pinfold.window.refused import Refused

HEADER = "[SUMMARY, BY A MODEL]"


class Snapshot:
    """Merges with the earlier summary: what did not change is kept word for word."""

    name = "snapshot"
    traits = Traits(
        about="a summary that a model writes, in which every entry cites its items",
        steps=("picking", "grouping", "summarising", "swapping in", "checking"),
    )
    needs_model = True

    async def prepare(
        self, view: WindowView, summarizer: Summarizer | None, options: PlanOptions
    ) -> Material:
        """Has all of the window read. Raises `Refused`, `ProviderError`."""
        return await self.renew(Material(entries=earlier_summary(view)), view, summarizer, options)

    async def renew(
        self,
        material: Material,
        view: WindowView,
        summarizer: Summarizer | None,
        options: PlanOptions,
    ) -> Material:
        """The material updated with what came since. Raises as `prepare` does."""
        if summarizer is None:
            raise Refused("it needs a model")
        summarizer.step("picking", 0.0)
        return await Synthesis(view, summarizer, options, material).material()

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """Raises `Refused`, `Impossible`."""
        told = standing(material.entries, view, options)
        if not told and options.text is None:
            raise Refused("it needs a model" if not material.entries else _NOTHING)

        roles = kept(view, options.keep_roles)
        prefix = prompts.text("snapshot_prefix", options.prompts)
        plan = assemble(view, options, self.name, "summary", summary_of(told, view, prefix), roles)
        if all(item.kind != "summary" for item in plan.inserted):
            raise Refused("there is no room for the summary")
        return with_summary(plan, view, material, options)


def earlier_summary(view: WindowView) -> tuple[SummaryEntry, ...]:
    """The entries of the window's summaries, one for each id."""
    shown = (entry.item for entry in view.of_kind("summary") if entry.sent)
    entries = (entry for item in shown for entry in entries_of(item))
    return tuple({entry.id: entry for entry in entries}.values())


def summary_of(entries: Sequence[SummaryEntry], view: WindowView, prefix: str = HEADER) -> Summary:
    """The entries that fit, the most important first, below a prefix."""

    def text(most: int) -> tuple[str, dict[str, Any]]:
        fitting = within(entries, most - view.count(prefix), view.count)
        return (f"{prefix}\n\n{text_of(fitting)}", to_detail(fitting)) if fitting else ("", {})

    return text


LEFT_OUT = "Left out, as no item confirms it"
MARKED = "Marked as unconfirmed in the text"
"""How notes on such entries begin."""
_NOTHING = "no item confirms anything the model wrote"


def standing(
    entries: Iterable[SummaryEntry], view: WindowView, options: PlanOptions
) -> tuple[SummaryEntry, ...]:
    """The entries to insert: those supported and not folded, and those the user keeps anyway; of
    several tasks the last."""
    folded = _folded(view, options)
    told = [
        replace(entry, unsupported="", unconfirmed=()) if entry.id in options.claims else entry
        for entry in entries
        if entry.id in options.claims or not (entry.unsupported or _rests_on(entry, folded))
    ]
    tasks = [entry for entry in told if entry.field == "task"]
    tasks.sort(key=lambda entry: not entry.unconfirmed)  # of those confirmed the last
    gone = {entry.id for entry in tasks[:-1]}
    return tuple(entry for entry in told if entry.id not in gone)


def with_summary(
    plan: CompactionPlan, view: WindowView, material: Material, options: PlanOptions
) -> CompactionPlan:
    """The plan, with the summary's JSON, and notes on what of it and of the window is missing.

    Text that the user edited has no entries: the next model reads it as text.
    """
    told = standing(material.entries, view, options)
    left = len(told)
    if options.text is None:
        left = sum(len(entries_of(item)) for item in plan.inserted if item.kind == "summary")
    notes = (
        *plan.notes,
        *material.notes,
        *_missing(told, len(told) - left, view, material, options),
        *_unread(plan, view, material, options),
    )
    env = {"cwd": view.known.cwd} if view.known.cwd else {}
    meta: dict[str, object] = {**material.meta, "summary": bare(told, env)}
    return replace(plan, told=(*plan.told, *material.told), notes=notes, meta=meta)


def _missing(
    told: Iterable[SummaryEntry],
    without_room: int,
    view: WindowView,
    material: Material,
    options: PlanOptions,
) -> Iterator[str]:
    """Notes on entries that are left out, or marked."""
    others = [entry for entry in material.entries if entry.id not in options.claims]
    if doubted := sum(bool(entry.unsupported) for entry in others):
        yield f"{LEFT_OUT}: {_counted(doubted)}."
    folded = _folded(view, options)
    if gone := sum(not entry.unsupported and _rests_on(entry, folded) for entry in others):
        yield f"Left out, as you folded its source: {_counted(gone)}."
    if marked := [entry for entry in told if entry.unconfirmed]:
        names = ", ".join(dict.fromkeys(name for entry in marked for name in entry.unconfirmed))
        yield f"{MARKED}, {_counted(len(marked))}: {names}."
    if without_room:
        yield f"Left out for lack of room: {_counted(without_room)}."


def _unread(
    plan: CompactionPlan, view: WindowView, material: Material, options: PlanOptions
) -> Iterator[str]:
    """Says how many items came after the summary and leave the window."""
    stays = {n for n, _ in plan.window} | {item.detail.get("replaces") for item in plan.inserted}
    since = [entry for entry in view.entries if entry.item.n > material.through]
    if count := sum(entry.n not in stays and is_read(entry, options) for entry in since):
        items = f"{count:,} items" if count > 1 else "1 item"
        yield f"Left out, as it came after #{material.through}, since the summary: {items}."


def _folded(view: WindowView, options: PlanOptions) -> set[int]:
    folded = {entry.item.n for entry in view.entries if not entry.sent}
    if options.fold:
        out = (e.item.n for e in view.entries if options.fold & {e.item.n, e.partner})
        folded.update(out)
    return folded


def _rests_on(entry: SummaryEntry, folded: Container[int]) -> bool:
    return bool(entry.evidence) and all(source.item in folded for source in entry.evidence)


def _counted(entries: int) -> str:
    return f"{entries} entries" if entries > 1 else "1 entry"
