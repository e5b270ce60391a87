"""What a strategy is. Third parties write theirs for the entry-point group `pinfold.strategies`."""

from typing import Protocol

from msgspec import Struct, field

from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.ports import Summarizer


class Material(Struct, frozen=True):
    """What was prepared for a plan; it serves for any options and pins."""

    text: str = ""
    """What a model wrote."""
    meta: dict[str, object] = field(default_factory=dict)


class Strategy(Protocol):
    """One way to compact. Plans are checked by the engine, whoever makes them."""

    @property
    def name(self) -> str: ...

    @property
    def needs_model(self) -> bool: ...

    async def prepare(self, view: WindowView, summarizer: Summarizer | None) -> Material:
        """Whatever takes long, a model's work above all. Raises `ProviderError`."""
        ...

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """The next window. Pure, and quick enough for every key. Raises `Refused`."""
        ...


class ModelFree:
    """A strategy that has nothing to prepare."""

    needs_model = False

    async def prepare(self, view: WindowView, summarizer: Summarizer | None) -> Material:  # noqa: ARG002
        return Material()
