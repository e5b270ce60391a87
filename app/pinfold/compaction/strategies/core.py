"""`core`: the protected core before all else, then as `handoff`."""

from msgspec.structs import replace

from pinfold.compaction import handoff_text
from pinfold.compaction.checkpoint_text import core_text
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.replacement import replace_history
from pinfold.compaction.strategies.handoff import Handoff
from pinfold.compaction.strategies.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.rollout.items import Item


class Core(Handoff):
    """Goal and commitments are told anew after each compaction, never by a model."""

    name = "core"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """Raises `Refused`."""

        def core(most: int) -> Item | None:
            empty = Item(n=0, kind="checkpoint")
            text = core_text(view, most - view.count_item(empty))
            return replace(empty, content=text) if text else None

        item = handoff_text.item_of(view, material, options)
        return replace_history(view, material, options, self.name, item, core)
