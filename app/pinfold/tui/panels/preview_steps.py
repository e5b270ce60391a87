"""The steps of a plan, as the preview's progress bar walks them."""

from dataclasses import dataclass

from pinfold.compaction.strategies.registry import traits

PLAIN = ("reading", "planning", "comparing", "writing")
"""Folding what the session holds; the strategy; the others; the journal."""
ASKING = ("reading", "asking", "planning")
"""With a model that writes in between."""
REPLANNED = frozenset({"swapping in", "checking"})
"""What each draft tells of, where the strategy has no steps of its own."""
PLANNING = 0.9
"""Of a draft, that is done once its plan is begun."""


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
    """What a model is busy with."""


def begun(strategy: str, *, asks: bool) -> PlanProgress:
    """Before anything is told."""
    walk = PLAIN if not asks else traits(strategy).steps or ASKING
    return PlanProgress(walk, walk[0], 0.0)


def after(standing: PlanProgress, told: str, done: float) -> PlanProgress:
    """Where it is after a draft has told of a step, or of a model at work on it."""
    walk = standing.walk
    name, _, detail = told.partition(", ")
    if name in walk:
        return PlanProgress(walk, name, done, detail=detail)
    if told in REPLANNED:
        return PlanProgress(walk, "planning", done)
    if "asking" in walk:
        return PlanProgress(walk, "asking", done, detail=told)
    return PlanProgress(walk, standing.at, done, detail=told)
