"""`checkpoint`: what the host knows for certain, then pins, the user's words and the tail."""

from pinfold.compaction.carried import assemble_with, carried
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.strategies.strategy import Material, ModelFree
from pinfold.compaction.view import PlanOptions, WindowView


class Checkpoint(ModelFree):
    """Needs no model and works at any fill; every other strategy falls back on it."""

    name = "checkpoint"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:  # noqa: ARG002
        """Raises `Impossible`, its only failure."""
        return assemble_with(view, options, self.name, carried(view))
