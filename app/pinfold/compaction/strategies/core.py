"""`core`: the protected core before all else, then as `handoff`."""

from pinfold.compaction import handoff_text
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.replacement import replace_history
from pinfold.compaction.strategies.handoff import Handoff
from pinfold.compaction.strategies.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView


class Core(Handoff):
    """Goal and commitments are told anew after each compaction, never by a model."""

    name = "core"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """Raises `Refused`."""

        item = handoff_text.item_of(view, material, options)
        return replace_history(view, material, options, self.name, item)
