"""`checkpoint`: what the host knows for certain, the digest, then pins and the newest items."""

from pinfold.compaction.assembly import assemble
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.strategy import Material, ModelFree, Traits
from pinfold.compaction.view import PlanOptions, WindowView


class Checkpoint(ModelFree):
    """Needs no model and works at any fill; every other strategy falls back on it."""

    name = "checkpoint"
    traits = Traits(
        keeps_roles=False, about="a digest of the session, word for word, then the newest items"
    )

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:  # noqa: ARG002
        """Raises `Impossible`, its only failure."""
        return assemble(view, options, self.name)
