"""What an evaluation comes to, as plain data: for the terminal, JSON and reports alike."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from statistics import fmean, stdev
from typing import Literal

from msgspec import Struct

Probe = Literal["goal", "constraints", "decisions", "facts", "stale", "next", "files"]

PROBES: dict[Probe, str] = {
    "goal": "What the user first asked for.",
    "constraints": "The mean over everything the user ruled out or demanded so far.",
    "decisions": "The mean over all decisions so far: the user's, the agent's that the user "
    "agreed to, and those that the agent recorded with memory_apply.",
    "facts": "Of the facts that changed, the share whose latest value is known, unless an older "
    "one comes after it.",
    "stale": "Of the same facts, the share without a value that is out of date; one that its "
    "newer value follows counts as corrected.",
    "next": "The mean of the step that comes next (half, if an older one comes after it) and "
    "of the questions that are still open.",
    "files": "Of the files that the agent wrote or changed, the share whose path is known.",
}
"""What is scored after each compaction, each in [0, 1]."""
COHERENCE: tuple[Probe, ...] = ("goal", "constraints")
"""The probes whose mean is called goal coherence."""
EXPECTED = ((0.85, 0.95), (0.70, 0.85), (0.50, 0.70))
"""The goal coherence that an analysis of Codex expects of it after its compactions 1, 2 and 3."""

Kind = Literal["ours", "baseline"]
How = Literal["read", "asked"]
"""Whether probes read the window, or a model was asked and graded."""


class Spread(Struct, frozen=True):
    """A figure over the trials."""

    mean: float
    deviation: float
    """Standard deviation; 0 of a single trial."""
    low: float
    high: float


class Scores(Struct, frozen=True):
    """How the probes did."""

    probes: dict[Probe, Spread]
    coherence: Spread
    overall: Spread
    """Of the mean of all probes."""


class Point(Struct, frozen=True):
    """Where a strategy is after so many compactions; 0 is before the first."""

    compactions: int
    read: Scores
    """Probes that read the window as a request would carry it."""
    asked: Scores | None
    """The same probes asked of a model, and graded by one; none where no model was asked."""
    tokens: Spread
    """Of the window."""
    within: bool
    """Whether all windows kept to the budget, a twentieth more or less."""
    windows: int = 0
    """In all trials."""
    ungraded: int = 0
    """Of these, those that a model was to be asked about and has no grades for: `asked` is without
    them."""


class Times(Struct, frozen=True):
    """Of a strategy; the only figures that differ from run to run without a model."""

    plan_p50: float
    """Milliseconds of a dry run: planning and checking, from a window that is already folded."""
    plan_p95: float
    prepare: float
    """Seconds that a model worked for one compaction, on average."""


class Spent(Struct, frozen=True):
    """What a model's work took."""

    input: int = 0
    """Tokens."""
    output: int = 0
    dollars: float | None = None
    """None where no price is known."""


class StrategyResult(Struct, frozen=True):
    """One strategy over all conversations and trials."""

    strategy: str
    kind: Kind
    points: tuple[Point, ...]
    """As far as it ran: point 0 first."""
    not_run: str = ""
    """Why there is no point, or none after the last."""
    times: Times | None = None
    spent: Spent | None = None
    """By the model that wrote for it; none where it needs no model."""
    trials: tuple[tuple[float, ...], ...] = ()
    """Goal coherence of each trial, by point, as read."""
    asked_trials: tuple[tuple[float | None, ...], ...] = ()
    """The same, as asked; none where nothing was graded."""
    last_trials: dict[How, tuple[float | None, ...]] = {}
    """The mean of all probes at the last point, of each trial; none where nothing was graded."""
    by_conversation: dict[str, float] = {}
    """The mean of all probes at the last point, by conversation."""
    notes: tuple[str, ...] = ()


class Comparison(Struct, frozen=True):
    """One strategy against another, trial by trial, at the last point that both reached."""

    strategy: str
    against: str
    compactions: int
    how: How
    difference: Spread
    """Of goal coherence; above 0 the first is better."""


class Evaluation(Struct, frozen=True):
    """All of it."""

    seed: int
    trials: int
    compactions: int
    budget: int
    """Tokens that a window may have after a compaction."""
    user_share: float
    """The user's text before the first compaction, as a multiple of the budget; the least."""
    conversations: tuple[str, ...]
    """As `name (language, area)`."""
    model: str
    """As `provider/model`; empty where none was asked."""
    judge: str
    smoke: bool
    """Whether the model is too small for its figures to mean anything."""
    results: tuple[StrategyResult, ...]
    comparison: Comparison | None
    verdict: str
    answering: Spent | None = None
    """What the model's answers took, beside its work for strategies."""
    grading: Spent | None = None
    """What the judge took."""
    interrupted: bool = False
    """Whether more trials were wished for; those that were not over are left out."""
    seconds: float = 0.0
    version: str = ""
    """Of pinfold."""
    at: datetime | None = None
    """When it began."""


def spread(figures: Iterable[float]) -> Spread:
    """The spread of at least one figure, rounded so that it prints alike everywhere."""
    every = list(figures)
    deviation = stdev(every) if len(every) > 1 else 0.0
    mean, low, high = fmean(every), min(every), max(every)
    return Spread(round(mean, 4), round(deviation, 4), round(low, 4), round(high, 4))


def scores(trials: Sequence[dict[Probe, float]]) -> Scores:
    """The scores of several trials."""
    return Scores(
        {probe: spread(trial[probe] for trial in trials) for probe in PROBES},
        spread(coherence(trial) for trial in trials),
        spread(fmean(trial.values()) for trial in trials),
    )


def coherence(trial: dict[Probe, float]) -> float:
    return fmean(trial[probe] for probe in COHERENCE)


def is_asked(points: Iterable[Point]) -> bool:
    """Whether all their windows have grades, so that points can be compared by them."""
    return all(point.asked and not point.ungraded for point in points)


def mean(parts: Sequence[dict[Probe, float]]) -> dict[Probe, float]:
    """The mean of each probe."""
    return {probe: fmean(part[probe] for part in parts) for probe in PROBES}
