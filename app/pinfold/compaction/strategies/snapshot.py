"""`snapshot`: the state of the work as `summary_v1`, then pins, what roles keep, and the tail."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from pinfold.compaction import prompts
from pinfold.compaction.assembly import assemble
from pinfold.compaction.budget import SUMMARY, core_share, share
from pinfold.compaction.checkpoint_text import core_text
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.roles import kept
from pinfold.compaction.strategies.strategy import Material
from pinfold.compaction.summary import Entry, bare, entries_of, text_of, to_detail, within
from pinfold.compaction.synthesis import Synthesis
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.ports import Summarizer
from pinfold.window.refused import Refused


class Snapshot:
    """Merges with the summary before it: what did not change is carried to the letter."""

    name = "snapshot"
    needs_model = True

    async def prepare(
        self, view: WindowView, summarizer: Summarizer | None, options: PlanOptions
    ) -> Material:
        """Has all of the window read. Raises `Refused`, `ProviderError`."""
        return await self.renew(_standing(view), view, summarizer, options)

    async def renew(
        self,
        material: Material,
        view: WindowView,
        summarizer: Summarizer | None,
        options: PlanOptions,
    ) -> Material:
        """The material brought up to date by what came since. Raises as `prepare` does."""
        if summarizer is None:
            raise Refused("it needs a model")
        summarizer.step("anchor", 0.0)
        if any(entry.item.kind == "compaction" for entry in view.entries if entry.sent):
            raise Refused("the window holds a compaction that only its provider can read")
        return await Synthesis(view, summarizer, options, material).material()

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """Raises `Refused`, `Impossible`."""
        told = supported(material.entries, options)
        if not told and options.text is None:
            raise Refused("it needs a model" if not material.entries else _NOTHING)
        standing: dict[str, tuple[Entry, ...]] = {}

        def text(target: int) -> str:
            fitting = within(told, share(SUMMARY, target), view.count)
            parts = (
                prompts.text("snapshot_prefix", options.prompts),
                core_text(view, core_share(target)),
                text_of(fitting),
            )
            written = "\n\n".join(filter(None, parts)) if fitting else ""
            standing[written] = fitting
            return written

        roles = kept(view, options.keep_roles)
        plan = assemble(view, options, self.name, "summary", text, roles)
        if all(item.kind != "summary" for item in plan.inserted):
            raise Refused("there is no room for the summary")
        return with_summary(plan, view, material, options, standing)


LEFT_OUT = "Left out, as no item bears it out"
"""What a note on such entries begins with."""
_NOTHING = "nothing that the model wrote is borne out by the items that it read"


def _standing(view: WindowView) -> Material:
    """What the window's summary says already; it covers nothing of the window itself."""
    shown = (entry.item for entry in view.entries if entry.sent and entry.item.kind == "summary")
    entries = (each for item in shown for each in entries_of(item))
    return Material(entries=tuple({each.id: each for each in entries}.values()))


def supported(entries: Iterable[Entry], options: PlanOptions) -> tuple[Entry, ...]:
    """What is supported, or kept by the user all the same; of several tasks the last."""
    told = [
        replace(entry, unsupported="")
        for entry in entries
        if not entry.unsupported or entry.id in options.claims
    ]
    tasks = [entry.id for entry in told if entry.field == "task"]
    return tuple(entry for entry in told if entry.id not in tasks[:-1])


def with_summary(
    plan: CompactionPlan,
    view: WindowView,
    material: Material,
    options: PlanOptions,
    standing: Mapping[str, tuple[Entry, ...]],
) -> CompactionPlan:
    """The plan, with what its summary says kept beside it; `standing` has that by the text.

    Edited by the user, the text stands for itself: the next model reads it as it is.
    """
    told = supported(material.entries, options)
    written = next((item.content for item in plan.inserted if item.kind == "summary"), "")
    left = standing.get(written)
    return replace(
        plan,
        inserted=tuple(
            replace(item, detail=to_detail(left)) if left and item.kind == "summary" else item
            for item in plan.inserted
        ),
        notes=(
            *plan.notes,
            *material.notes,
            *_notes(material.entries, told, told if left is None else left, options),
        ),
        meta={**material.meta, "summary": bare(told, {"cwd": view.cwd} if view.cwd else {})},
    )


def _notes(
    entries: Iterable[Entry],
    told: tuple[Entry, ...],
    left: tuple[Entry, ...],
    options: PlanOptions,
) -> Iterable[str]:
    doubted = sum(bool(each.unsupported) and each.id not in options.claims for each in entries)
    if doubted:
        yield f"{LEFT_OUT}: {_counted(doubted)}."
    if len(left) < len(told):
        yield f"Left out for want of room: {_counted(len(told) - len(left))}."


def _counted(entries: int) -> str:
    return f"{entries} entries" if entries > 1 else "1 entry"
