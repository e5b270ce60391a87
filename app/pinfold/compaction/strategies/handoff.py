"""`handoff`: core and digest, the user's messages, then the notes of a model on all else."""

from pinfold.compaction import handoff_text
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.replacement import replace_history
from pinfold.compaction.strategy import Material, Traits
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.ports.summarizer import Summarizer


class Handoff:
    """Replaces all history; the notes are a narrative, as Codex has them.

    The goal and the core are repeated after each compaction, never by a model.
    """

    name = "handoff"
    traits = Traits(
        keeps_roles=False,
        about="the digest, your messages, and notes that a model writes for the next one",
    )
    needs_model = True

    async def prepare(
        self, view: WindowView, summarizer: Summarizer | None, options: PlanOptions
    ) -> Material:
        """Raises `Refused`, `ProviderError`."""
        return await handoff_text.write(view, summarizer, options)

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """Raises `Refused`."""
        item = handoff_text.item_of(view, material, options)
        return replace_history(view, material, options, self.name, item)
