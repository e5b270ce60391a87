"""`remote`: the window as the provider's own endpoint compacts it. Nobody else can read that."""

from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.replacement import as_sent, covered, replace_history
from pinfold.compaction.strategy import Material, Traits
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.ports.provider import ModelInfo
from pinfold.ports.summarizer import Summarizer
from pinfold.rollout.items import Item, Origin
from pinfold.window.refused import Refused


class Remote:
    """The user's messages, then an item that goes back to its model unchanged."""

    name = "remote"
    traits = Traits(
        at_provider=True,
        keeps_roles=False,
        about="whatever the provider makes of the window; only its model can read that",
    )
    needs_model = True

    async def prepare(
        self,
        view: WindowView,
        summarizer: Summarizer | None,
        options: PlanOptions,  # noqa: ARG002
    ) -> Material:
        """Raises `Refused`, and `RequestRejected` where the provider has no endpoint for it."""
        if summarizer is None:
            raise Refused("No model's provider can compact.")
        writer = summarizer.model
        if _origin(writer) != view.reader:
            raise Refused(f"Only {writer.name} can read what its own provider compacts.")
        known = covered(view)
        items = as_sent(view, known)
        if not items:
            raise Refused("There is nothing to compact.")
        summarizer.step("the provider compacts", 0.1)
        made = await summarizer.compacted(items)
        return Material(
            opaque=made.opaque,
            through=max(entry.n for entry in known),
            meta={"provider": writer.provider, "model": writer.name},
        )

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """Raises `Refused`."""
        if not material.opaque:
            raise Refused("The provider has not compacted this window.")
        reader = view.reader
        if material.meta != {"provider": reader.provider, "model": reader.model}:
            raise Refused("Another model compacted the window; this one can't read the result.")
        item = Item(n=0, kind="compaction", opaque=material.opaque, origin=reader)
        return replace_history(view, material, options, self.name, item)


def _origin(model: ModelInfo) -> Origin:
    return Origin(provider=model.provider, model=model.name)
