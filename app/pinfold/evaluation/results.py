"""The result of a strategy's trials, and two strategies compared."""

from collections.abc import Iterable, Sequence
from statistics import fmean, median

from pinfold.agent.requests.writing import Writer
from pinfold.compaction.strategy import Strategy
from pinfold.evaluation.dialogues import Dialogue
from pinfold.evaluation.scores import (
    Comparison,
    How,
    Kind,
    Point,
    Spent,
    StrategyResult,
    Times,
    coherence,
    is_asked,
    mean,
    scores,
    spread,
)
from pinfold.evaluation.trials import Graded, Trial
from pinfold.rollout.values import Usage

PAIRS = (("handoff", "bare-handoff"), ("checkpoint", "tail"))
"""Pairs to compare; the first of which both ran is taken."""


def result(
    strategy: Strategy,
    kind: Kind,
    runs: Sequence[Sequence[Trial]],
    chosen: Sequence[Sequence[Dialogue]],
    writer: Writer | None,
) -> StrategyResult:
    """`runs` and `chosen` (its conversations) go by trial; `writer` wrote for the strategy."""
    every = [trial for some in runs for trial in some]
    reached = min(len(trial.points) for trial in every)
    points = tuple(_point(at, runs) for at in range(reached))
    return StrategyResult(
        strategy=strategy.name,
        kind=kind,
        points=points,
        not_run=next((trial.not_run for trial in every if trial.not_run), ""),
        times=_times(every),
        spent=_spent(every, writer),
        trials=tuple(
            tuple(round(coherence(_mean_read(at, some)), 4) for at in range(reached))
            for some in runs
        ),
        asked_trials=tuple(
            tuple(_asked_coherence(at, some) for at in range(reached)) for some in runs
        ),
        last_trials=_last_trials(runs, reached - 1) if reached else {},
        by_conversation=_by_conversation(runs, chosen, reached - 1) if reached else {},
        notes=tuple(dict.fromkeys(note for trial in every for note in trial.notes)),
    )


def _point(at: int, runs: Sequence[Sequence[Trial]]) -> Point:
    every = [trial.points[at] for some in runs for trial in some]
    asked = [graded for some in runs if (graded := _mean_asked(at, some))]
    return Point(
        compactions=at,
        read=scores([_mean_read(at, some) for some in runs]),
        asked=scores(asked) if asked else None,
        tokens=spread(point.tokens for point in every),
        within=all(point.within for point in every),
        windows=len(every),
        ungraded=sum(point.ungraded for point in every),
    )


def _mean_read(at: int, some: Iterable[Trial]) -> Graded:
    """The mean over the conversations of a trial."""
    return mean([trial.points[at].read for trial in some])


def _mean_asked(at: int, some: Iterable[Trial]) -> Graded | None:
    graded = [scores for trial in some if (scores := trial.points[at].asked)]
    return mean(graded) if graded else None


def _asked_coherence(at: int, some: Iterable[Trial]) -> float | None:
    graded = _mean_asked(at, some)
    return round(coherence(graded), 4) if graded else None


def _last_trials(runs: Sequence[Sequence[Trial]], at: int) -> dict[How, tuple[float | None, ...]]:
    read = tuple(round(fmean(_mean_read(at, some).values()), 4) for some in runs)
    asked = tuple(
        round(fmean(graded.values()), 4) if (graded := _mean_asked(at, some)) else None
        for some in runs
    )
    return {"read": read, "asked": asked}


def _times(every: Sequence[Trial]) -> Times | None:
    planned = sorted(ms for trial in every for ms in trial.plan_ms)
    prepared = [seconds for trial in every for seconds in trial.prepare_seconds]
    if not planned:
        return None
    return Times(
        round(median(planned), 1),
        round(planned[int(0.95 * (len(planned) - 1))], 1),
        round(fmean(prepared), 2) if prepared else 0.0,
    )


def _spent(every: Sequence[Trial], writer: Writer | None) -> Spent | None:
    used = [trial.spent for trial in every if trial.spent is not None]
    return spent_of(sum(used, Usage()), writer) if writer and used else None


def spent_of(usage: Usage, speaker: Writer) -> Spent:
    return Spent(usage.input, usage.output, speaker.cost(usage))


def _by_conversation(
    runs: Sequence[Sequence[Trial]], chosen: Sequence[Sequence[Dialogue]], at: int
) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for some, named in zip(runs, chosen, strict=True):
        for trial, dialogue in zip(some, named, strict=True):
            found.setdefault(dialogue.name, []).append(fmean(trial.points[at].read.values()))
    return {name: round(fmean(means), 4) for name, means in sorted(found.items())}


def compared(results: Sequence[StrategyResult], *, even_asked: bool) -> Comparison | None:
    """The first of `PAIRS` of which both ran. By answers if all are graded and `even_asked`, else
    by text."""
    named = {
        strategy_result.strategy: strategy_result
        for strategy_result in results
        if len(strategy_result.points) > 1
    }
    for one, other in PAIRS:
        if one in named and other in named:
            return _difference(named[one], named[other], even_asked)
    return None


def _difference(one: StrategyResult, other: StrategyResult, even_asked: bool) -> Comparison:
    at = min(len(one.points), len(other.points)) - 1
    how: How = "asked" if even_asked and is_asked([one.points[at], other.points[at]]) else "read"
    pairs = zip(_column(one, how, at), _column(other, how, at), strict=True)
    return Comparison(one.strategy, other.strategy, at, how, spread(a - b for a, b in pairs))


def _column(result: StrategyResult, how: How, at: int) -> list[float]:
    """Goal coherence at a point, by trial."""
    rows = result.asked_trials if how == "asked" else result.trials
    return [share for row in rows if (share := row[at]) is not None]
