"""`layered`: the gentlest step that is enough."""

from pinfold.compaction.assembly import assemble
from pinfold.compaction.budget import SUMMARY, room, share
from pinfold.compaction.checkpoint_text import checkpoint_text
from pinfold.compaction.guards import MIN_GAIN
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.strategies.checkpoint import Checkpoint
from pinfold.compaction.strategies.prune import Prune, least
from pinfold.compaction.strategies.snapshot import supported, with_summary
from pinfold.compaction.strategies.strategy import Material, ModelFree
from pinfold.compaction.summary import Entry, text_of, within
from pinfold.compaction.view import PlanOptions, WindowView

HEADER = "[SUMMARY, BY A MODEL]"


class Layered(ModelFree):
    """`prune` where that reaches the target, else `checkpoint`, with a summary where one is
    prepared; the plan says which it was."""

    name = "layered"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """Raises `Impossible`."""
        if least(view, options) <= room(view, options).target:
            pruned = Prune().plan(view, material, options)
            target = view.corrected(room(view, options).target)
            if pruned.sizes.after <= target and pruned.sizes.saved >= MIN_GAIN:
                return pruned
        entries = supported(material.entries, options)
        if not entries:
            return Checkpoint().plan(view, material, options)
        standing: dict[str, tuple[Entry, ...]] = {}

        def text(target: int) -> str:
            fitting = within(entries, share(SUMMARY, target), view.count)
            known = checkpoint_text(view, target)
            written = f"{known}\n\n{HEADER}\n{text_of(fitting)}" if fitting else known
            standing[written] = fitting
            return written

        plan = assemble(view, options, self.name, "summary", text)
        return with_summary(plan, view, material, options, standing)
