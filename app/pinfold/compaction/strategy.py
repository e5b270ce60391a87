"""What a strategy is. Third parties write theirs for the entry-point group `pinfold.strategies`."""

from typing import Any, Protocol

from msgspec import Struct, field

from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.summary import SummaryEntry
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.ports.summarizer import Summarizer


class Material(Struct, frozen=True):
    """What was prepared for a plan; it serves for any options and pins."""

    text: str = ""
    """What a model wrote, as prose."""
    entries: tuple[SummaryEntry, ...] = ()
    """What a model wrote, as `summary_v1`."""
    opaque: dict[str, Any] | None = None
    """The provider's own compaction item."""
    through: int = 0
    """The last item that it covers."""
    error: str = ""
    """Why nothing could be prepared; then the next strategy plans."""
    told: tuple[str, ...] = ()
    """How it was made, such as how much was read."""
    notes: tuple[str, ...] = ()
    """What the user should heed, such as what could not be read."""
    meta: dict[str, object] = field(default_factory=dict)
    """For the journal."""


class Traits(Struct, frozen=True):
    """What the rest of pinfold must know of a strategy; the defaults are for one that states
    nothing."""

    takes_prepared: bool = False
    """Uses a summary prepared in the background, and is preceded by batches of masks."""
    at_provider: bool = False
    """The model's provider does the work, and ignores the focus."""
    keeps_roles: bool = True
    """Keeps items by role, as the options say."""
    leaves_tail: bool = False
    """Leaves the tail unchanged, and does not fill the budget with it."""
    about: str = ""
    """The next window, in a few words."""
    steps: tuple[str, ...] = ()
    """The steps that it reports while it prepares and plans, in order."""


def traits_of(strategy: "Strategy | None") -> Traits:
    """Its traits; the defaults for None and for a strategy without any."""
    found: Traits = getattr(strategy, "traits", Traits())
    return found


class Strategy(Protocol):
    """One way to compact. The engine checks every plan.

    It may have `traits: Traits`.
    """

    @property
    def name(self) -> str: ...

    @property
    def needs_model(self) -> bool: ...

    async def prepare(
        self, view: WindowView, summarizer: Summarizer | None, options: PlanOptions
    ) -> Material:
        """Do what takes long, such as asking a model. Raises `ProviderError`, `Refused`."""
        ...

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """The next window. Pure, and quick enough for every key. Raises `Refused`."""
        ...


class ModelFree:
    """A strategy that has nothing to prepare."""

    needs_model = False

    async def prepare(
        self,
        view: WindowView,  # noqa: ARG002
        summarizer: Summarizer | None,  # noqa: ARG002
        options: PlanOptions,  # noqa: ARG002
    ) -> Material:
        return Material()
