"""`layered`: the gentlest step that is enough."""

from pinfold.compaction.budget import room
from pinfold.compaction.carried import assemble_with
from pinfold.compaction.checkpoint_text import checkpoint_text
from pinfold.compaction.guards import MIN_GAIN
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.strategies.checkpoint import Checkpoint
from pinfold.compaction.strategies.prune import least, masked_draft
from pinfold.compaction.strategies.snapshot import standing, with_summary
from pinfold.compaction.strategies.strategy import Material, ModelFree
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.rollout.items import Item


class Layered(ModelFree):
    """`prune` behind a checkpoint where that reaches the target, else `checkpoint`, with a summary
    where one is prepared; the plan says which it was."""

    name = "layered"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """Raises `Impossible`."""
        target = room(view, options).target
        if least(view, options) <= target:
            pruned = self._pruned(view, options, target)
            enough = pruned.sizes.after <= view.corrected(target)
            if enough and pruned.sizes.saved >= MIN_GAIN:
                return pruned
        entries = standing(material.entries, view, options)
        if not entries:
            return Checkpoint().plan(view, material, options)
        plan = assemble_with(view, options, self.name, entries)
        return with_summary(plan, view, material, options)

    def _pruned(self, view: WindowView, options: PlanOptions, target: int) -> CompactionPlan:
        """Masked, with the checkpoint before it: names and errors stood in what is masked."""
        sent = [entry for entry in view.entries if entry.sent and entry.pin is None]
        if any(entry.item.kind in ("summary", "compaction") for entry in sent):
            return masked_draft(view, options).plan("prune")  # that tells it already
        told = checkpoint_text(view, target) if options.text is None else options.text
        first = Item(n=0, kind="checkpoint", content=told)
        draft = masked_draft(view, options, view.count_item(first))
        if told.strip():
            draft.first = first
        for entry in sent:
            if entry.item.kind == "checkpoint" and entry.n not in options.keep:
                draft.put(entry.n, "replace", "superseded by what is inserted")
        return draft.plan(self.name)
