"""A plan: a verdict on every item of a window, and why. What is shown is what is applied."""

from typing import Literal

from msgspec import Struct, field

from pinfold.rollout.items import Form, Item
from pinfold.rollout.values import PlanBase

Verdict = Literal["keep", "pin", "shorten", "mask", "fold", "archive", "replace"]
"""Stays; stays for its pin; keeps the ends of its body; loses its body; leaves a line; leaves the
window (the archive has it); leaves it for one of the inserted items."""


class Planned(Struct, frozen=True, gc=False):
    """The verdict on one item."""

    n: int
    verdict: Verdict
    reason: str
    before: int
    """Tokens that it takes in the window now, as counted here."""
    after: int
    """The same in the next window; a placeholder's tokens count for its first item."""


class PlanSizes(Struct, frozen=True):
    """Tokens, corrected by what the gauge knows now."""

    context: int
    """Instructions, AGENTS.md and tools, which stay as they are."""
    before: int
    """The window's items."""
    after: int
    limit: int
    """The model's context window."""
    reserve: int

    @property
    def headroom(self) -> int:
        """Free after the compaction, before the reserve."""
        return self.limit - self.reserve - self.context - self.after

    @property
    def saved(self) -> float:
        """The share of the window's items that goes."""
        return 1 - self.after / self.before if self.before else 0.0


class CompactionPlan(Struct, frozen=True, kw_only=True):
    """The next window, counted and final; a `PlanBuilder` builds it."""

    strategy: str
    base: PlanBase
    items: tuple[Planned, ...]
    """Every item of the window, in its order."""
    window: tuple[tuple[int, Form], ...]
    """The next window in order; `-1` is the first of `inserted`, `-2` the second ..."""
    inserted: tuple[Item, ...] = ()
    """New items; their `n` is 0 until the plan is applied."""
    sizes: PlanSizes
    told: tuple[str, ...] = ()
    """How it was made, for information."""
    notes: tuple[str, ...] = ()
    """What the user should heed: headroom not met, pins over half the window ..."""
    meta: dict[str, object] = field(default_factory=dict)
