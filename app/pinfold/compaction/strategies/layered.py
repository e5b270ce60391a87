"""`layered`: the gentlest step that is enough."""

from pinfold.compaction.budget import room
from pinfold.compaction.guards import MIN_GAIN
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.strategies.checkpoint import Checkpoint
from pinfold.compaction.strategies.prune import Prune
from pinfold.compaction.strategies.strategy import Material, ModelFree
from pinfold.compaction.view import PlanOptions, WindowView


class Layered(ModelFree):
    """`prune` where that reaches the target, else `checkpoint`; the plan says which it was."""

    name = "layered"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """Raises `Impossible`."""
        pruned = Prune().plan(view, material, options)
        target = view.corrected(room(view, options).target)
        if pruned.sizes.after <= target and pruned.sizes.saved >= MIN_GAIN:
            return pruned
        return Checkpoint().plan(view, material, options)
