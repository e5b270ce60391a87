"""`layered`: the gentlest step that is enough."""

from msgspec.structs import replace

from pinfold.compaction.assembly import assemble
from pinfold.compaction.budget import SPARE, room
from pinfold.compaction.guards import MIN_GAIN
from pinfold.compaction.inserted import opening
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.strategies.checkpoint import Checkpoint
from pinfold.compaction.strategies.prune import least, masked_builder
from pinfold.compaction.strategies.snapshot import standing, summary_of, with_summary
from pinfold.compaction.strategy import Material, ModelFree, Traits
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.rollout.items import Item

WAITS = "The background summary is kept for the next compaction: masking is enough."
NOTHING_LEFT = "The background summary is not used: no item confirms it."


class Layered(ModelFree):
    """`prune` with a checkpoint if that reaches the target, else `checkpoint`, with a summary if
    one is prepared; the plan names the one used."""

    name = "layered"
    traits = Traits(
        takes_prepared=True,
        keeps_roles=False,
        about="masks old output; if that is not enough, does what checkpoint does",
    )

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """Raises `Impossible`."""
        target = room(view, options).target
        if least(view, options) <= (1 - SPARE) * target:  # the digest takes the rest
            pruned = self._pruned(view, options, target)
            enough = pruned.sizes.after <= view.correct_items(target)
            if enough and pruned.sizes.saved >= MIN_GAIN:
                told = (WAITS,) if material.entries else ()
                return replace(pruned, told=(*pruned.told, *told))
        entries = standing(material.entries, view, options)
        if not entries:
            plan = Checkpoint().plan(view, material, options)
            unused = (NOTHING_LEFT,) if material.entries else ()
            return replace(plan, notes=(*plan.notes, *unused))
        plan = assemble(view, options, self.name, "summary", summary_of(entries, view))
        return with_summary(plan, view, material, options)

    def _pruned(self, view: WindowView, options: PlanOptions, target: int) -> CompactionPlan:
        """Masked, with core and digest first: the digest tells what is masked."""
        sent = [entry for entry in view.entries if entry.sent and entry.pin is None]
        if any(entry.item.kind in ("summary", "compaction") for entry in sent):
            return masked_builder(view, options).build("prune")  # it has a summary already
        standing = frozenset(e.n for e in sent if e.item.kind != "tool_result")
        told = options.text
        if told is None:
            told = opening(view, options, target, target - least(view, options), standing)
        first = Item(n=0, kind="checkpoint", content=told)
        builder = masked_builder(view, options, view.count_item(first))
        if told.strip():
            builder.first = first
        for entry in sent:
            if entry.item.kind == "checkpoint" and entry.n not in options.keep:
                builder.put(entry.n, "replace", "replaced by the inserted text")
        return builder.build(self.name)
