"""The steps of a plan, as the preview's progress bar walks them."""

from dataclasses import dataclass

from pinfold.compaction.strategies.registry import traits

PLAIN = ("reading", "planning", "comparing", "writing")
"""Folding what the session holds; the strategy; the others; the journal."""
ASKING = ("reading", "asking", "planning")
"""With a model that writes in between."""
REPLANNED = frozenset({"swapping in", "checking"})
"""Steps that every draft reports."""
PLANNING = 0.9
"""Share of a draft that is done when planning begins."""


@dataclass(frozen=True, slots=True)
class PlanProgress:
    """Where a plan stands."""

    walk: tuple[str, ...]
    at: str
    """One of them."""
    done: float
    """A share of the whole, in [0, 1]."""
    about: str = ""
    """The strategy, where it is not the chosen one's step."""
    detail: str = ""
    """What the model is doing."""


def begun(strategy: str, *, asks: bool) -> PlanProgress:
    """Before the first report."""
    walk = PLAIN if not asks else traits(strategy).steps or ASKING
    return PlanProgress(walk, walk[0], 0.0)


def after(standing: PlanProgress, told: str, done: float) -> PlanProgress:
    """The progress after a draft reported a step."""
    walk = standing.walk
    name, _, detail = told.partition(", ")
    if name in walk:
        return PlanProgress(walk, name, done, detail=detail)
    if told in REPLANNED:
        return PlanProgress(walk, "planning", done)
    if "asking" in walk:
        return PlanProgress(walk, "asking", done, detail=told)
    return PlanProgress(walk, standing.at, done, detail=told)
