"""The results of an evaluation as plain data, for the terminal, JSON and reports."""

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
"""Whether probes read the window's text, or a model's answers were graded."""


class Spread(Struct, frozen=True):
    """A figure over the trials."""

    mean: float
    deviation: float
    """Standard deviation; 0 for a single trial."""
    low: float
    high: float


class Scores(Struct, frozen=True):
    probes: dict[Probe, Spread]
    coherence: Spread
    overall: Spread
    """The mean of all probes."""


class Point(Struct, frozen=True):
    """A strategy after a number of compactions; 0 is before the first."""

    compactions: int
    read: Scores
    """Probes that read the window as a request would carry it."""
    asked: Scores | None
    """The same probes by a model's graded answers; None without a model."""
    tokens: Spread
    """Of the window."""
    within: bool
    """Whether all windows fit the budget, give or take 5%."""
    windows: int = 0
    """In all trials."""
    ungraded: int = 0
    """Of these, windows whose answers have no grades; `asked` leaves them out."""


class Times(Struct, frozen=True):
    """Without a model, the only figures that differ from run to run."""

    plan_p50: float
    """Milliseconds of a dry run: to plan and check, from a folded window."""
    plan_p95: float
    prepare: float
    """Mean seconds of a model's work for one compaction."""


class Spent(Struct, frozen=True):
    """What a model's work took."""

    input: int = 0
    """Tokens."""
    output: int = 0
    dollars: float | None = None
    """None if no price is known."""


class StrategyResult(Struct, frozen=True):
    """One strategy over all conversations and trials."""

    strategy: str
    kind: Kind
    points: tuple[Point, ...]
    """As far as it ran, from point 0 on."""
    not_run: str = ""
    """Why it did not run, or not to the end."""
    times: Times | None = None
    spent: Spent | None = None
    """By the model that wrote for it; None if it needs no model."""
    trials: tuple[tuple[float, ...], ...] = ()
    """Goal coherence by window text: by trial, then by point."""
    asked_trials: tuple[tuple[float | None, ...], ...] = ()
    """The same by model answers; None where nothing was graded."""
    last_trials: dict[How, tuple[float | None, ...]] = {}
    """The mean of all probes at the last point, by trial; None where nothing was graded."""
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
    """The whole evaluation."""

    seed: int
    trials: int
    compactions: int
    budget: int
    """Tokens of a window after a compaction, at most."""
    user_share: float
    """The user's text before the first compaction, as a multiple of the budget; the smallest."""
    conversations: tuple[str, ...]
    """As `name (language, area)`."""
    model: str
    """As `provider/model`; empty without a model."""
    judge: str
    smoke: bool
    """Whether the model is too small for its figures to mean anything."""
    results: tuple[StrategyResult, ...]
    comparison: Comparison | None
    verdict: str
    answering: Spent | None = None
    """For the model's answers, without its work for strategies."""
    grading: Spent | None = None
    """By the judge."""
    interrupted: bool = False
    """Whether unfinished trials are left out."""
    seconds: float = 0.0
    version: str = ""
    """pinfold's."""
    at: datetime | None = None
    """When it began."""


def spread(figures: Iterable[float]) -> Spread:
    """The spread of at least one figure, rounded so that it prints the same everywhere."""
    every = list(figures)
    deviation = stdev(every) if len(every) > 1 else 0.0
    mean, low, high = fmean(every), min(every), max(every)
    return Spread(round(mean, 4), round(deviation, 4), round(low, 4), round(high, 4))


def scores(trials: Sequence[dict[Probe, float]]) -> Scores:
    return Scores(
        {probe: spread(trial[probe] for trial in trials) for probe in PROBES},
        spread(coherence(trial) for trial in trials),
        spread(fmean(trial.values()) for trial in trials),
    )


def coherence(trial: dict[Probe, float]) -> float:
    return fmean(trial[probe] for probe in COHERENCE)


def is_asked(points: Iterable[Point]) -> bool:
    """Whether all windows of these points have grades."""
    return all(point.asked and not point.ungraded for point in points)


def mean(parts: Sequence[dict[Probe, float]]) -> dict[Probe, float]:
    """The mean of each probe."""
    return {probe: fmean(part[probe] for part in parts) for probe in PROBES}
