"""An evaluation: all strategies over all conversations, and what it comes to."""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from statistics import fmean, median

from msgspec import Struct
from msgspec.structs import replace

from pinfold.compaction.strategies.registry import registry
from pinfold.compaction.strategies.strategy import Strategy
from pinfold.evaluation import trials
from pinfold.evaluation.baselines import baselines
from pinfold.evaluation.conversation import compose
from pinfold.evaluation.exam import Exam
from pinfold.evaluation.scores import (
    Comparison,
    Evaluation,
    How,
    Kind,
    Point,
    Spent,
    StrategyResult,
    Times,
    coherence,
    mean,
    scores,
    spread,
)
from pinfold.evaluation.speaking import Speaker, sum_of
from pinfold.evaluation.templates import Template, templates
from pinfold.evaluation.trials import WINDOW, Graded, Setting, Trial
from pinfold.evaluation.verdict import verdict
from pinfold.ports import ModelInfo
from pinfold.rollout.events import Usage
from pinfold.tokens.counter import Counter

BUDGET = 4_000
"""Tokens, where nothing else is said and the model's window is no smaller."""
PAIRS = (("core", "handoff"), ("checkpoint", "tail"))
"""Strategies to compare: the first pair of which both ran."""

Chosen = tuple[Strategy, Kind]
Told = Callable[[int, int], None]
"""Hears how many of how many conversations are done."""


class Wish(Struct, frozen=True):
    """What to evaluate."""

    trials: int = 5
    compactions: int = 3
    budget: int = BUDGET
    """Tokens that a window may have after a compaction."""
    seed: int = 1
    conversations: int | None = None
    """In each trial, another choice of them each time; all where nothing is said and no model is
    asked, else one."""


class Speakers(Struct, frozen=True):
    """The models that take part."""

    writer: Speaker
    """Summarises, and is asked."""
    judge: Speaker
    smoke: bool
    cost: Callable[[Usage], float | None]
    """USD of what the writer used, where its price is known."""


def known(names: Iterable[str] = ()) -> list[Chosen]:
    """The strategies of these names, or all: ours, then baselines. Raises `KeyError`."""
    found: dict[str, Chosen] = {
        name: (strategy, "ours") for name, strategy in registry().strategies.items()
    }
    found |= {strategy.name: (strategy, "baseline") for strategy in baselines()}
    return [found[name] for name in dict.fromkeys(names)] or list(found.values())


async def evaluate(
    wish: Wish,
    strategies: Sequence[Chosen],
    counter: Counter,
    speakers: Speakers | None = None,
    told: Told = lambda _done, _every: None,
) -> Evaluation:
    """Run all trials. The same wish has the same scores, but for what models say."""
    setting = _setting(wish, counter, speakers)
    chosen = [_chosen(wish, number, speakers is not None) for number in range(wish.trials)]
    runs: list[list[list[Trial]]] = []
    """By trial, conversation and strategy."""
    user_share = float("inf")
    done, every = 0, sum(map(len, chosen))
    for number, some in enumerate(chosen):
        runs.append([])
        for template in some:
            conversation = compose(
                template,
                wish.seed + number,
                compactions=wish.compactions,
                budget=wish.budget,
                count=counter.count,
            )
            user_share = min(user_share, conversation.stretches[0].user_tokens / wish.budget)
            every_one = [strategy for strategy, _ in strategies]
            runs[-1].append(await trials.run(conversation, every_one, setting))
            done += 1
            told(done, every)
    results = tuple(
        _result(strategy, kind, [[ran[at] for ran in some] for some in runs], chosen, speakers)
        for at, (strategy, kind) in enumerate(strategies)
    )
    smoke = speakers is not None and speakers.smoke
    found = Evaluation(
        seed=wish.seed,
        trials=wish.trials,
        compactions=wish.compactions,
        budget=wish.budget,
        user_share=round(user_share, 2),
        conversations=tuple(sorted({each.title for some in chosen for each in some})),
        model=speakers.writer.model.name if speakers else "",
        judge=speakers.judge.model.name if speakers else "",
        smoke=smoke,
        results=results,
        comparison=compared(results, even_asked=not smoke),
        verdict="",
    )
    return replace(found, verdict=verdict(found))


def _setting(wish: Wish, counter: Counter, speakers: Speakers | None) -> Setting:
    model = ModelInfo("", "", WINDOW * wish.budget, "config", max_output=0)
    if speakers is None:
        return Setting(wish.budget, counter, model)
    writer = speakers.writer
    model = replace(model, name=writer.model.name, provider=writer.model.provider)
    return Setting(wish.budget, counter, model, writer, Exam(writer, speakers.judge))


def _chosen(wish: Wish, trial: int, with_model: bool) -> list[Template]:
    """The templates of a trial."""
    every = templates()
    count = min(wish.conversations or (1 if with_model else len(every)), len(every))
    start = 0 if count == len(every) else wish.seed + trial * count
    return [every[(start + at) % len(every)] for at in range(count)]


def _result(
    strategy: Strategy,
    kind: Kind,
    runs: Sequence[Sequence[Trial]],
    chosen: Sequence[Sequence[Template]],
    speakers: Speakers | None,
) -> StrategyResult:
    every = [trial for some in runs for trial in some]
    reached = min(len(trial.points) for trial in every)
    points = tuple(_point(at, runs) for at in range(reached))
    asked = [[_asked(at, some) for at in range(reached)] for some in runs]
    return StrategyResult(
        strategy=strategy.name,
        kind=kind,
        points=points,
        not_run=next((trial.not_run for trial in every if trial.not_run), ""),
        times=_times(every),
        spent=_spent(every, speakers),
        trials=tuple(
            tuple(round(coherence(_read(at, some)), 4) for at in range(reached)) for some in runs
        ),
        asked_trials=tuple(
            tuple(round(coherence(each), 4) for each in some if each) for some in asked
        ),
        by_conversation=_by_conversation(runs, chosen, reached - 1) if reached else {},
        notes=tuple(dict.fromkeys(note for trial in every for note in trial.notes)),
    )


def _point(at: int, runs: Sequence[Sequence[Trial]]) -> Point:
    every = [trial.points[at] for some in runs for trial in some]
    asked = [graded for some in runs if (graded := _asked(at, some))]
    return Point(
        compactions=at,
        read=scores([_read(at, some) for some in runs]),
        asked=scores(asked) if asked else None,
        tokens=spread(point.tokens for point in every),
        within=all(point.within for point in every),
    )


def _read(at: int, some: Iterable[Trial]) -> Graded:
    """The mean over the conversations of a trial."""
    return mean([trial.points[at].read for trial in some])


def _asked(at: int, some: Iterable[Trial]) -> Graded | None:
    graded = [each for trial in some if (each := trial.points[at].asked)]
    return mean(graded) if graded else None


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


def _spent(every: Sequence[Trial], speakers: Speakers | None) -> Spent | None:
    used = [trial.spent for trial in every if trial.spent is not None]
    if speakers is None or not used:
        return None
    usage = reduce(sum_of, used)
    return Spent(usage.input, usage.output, speakers.cost(usage))


def _by_conversation(
    runs: Sequence[Sequence[Trial]], chosen: Sequence[Sequence[Template]], at: int
) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for some, named in zip(runs, chosen, strict=True):
        for trial, template in zip(some, named, strict=True):
            found.setdefault(template.name, []).append(fmean(trial.points[at].read.values()))
    return {name: round(fmean(each), 4) for name, each in sorted(found.items())}


def compared(results: Sequence[StrategyResult], *, even_asked: bool) -> Comparison | None:
    """The first pair of `PAIRS` of which both ran; as asked where both were, if that counts."""
    named = {each.strategy: each for each in results if len(each.points) > 1}
    for one, other in PAIRS:
        if one in named and other in named:
            return _difference(named[one], named[other], even_asked)
    return None


def _difference(one: StrategyResult, other: StrategyResult, even_asked: bool) -> Comparison:
    at = min(len(one.points), len(other.points)) - 1
    asked = even_asked and all(len(row) > at for each in (one, other) for row in each.asked_trials)
    rows = (one.asked_trials, other.asked_trials) if asked else (one.trials, other.trials)
    differences = [a[at] - b[at] for a, b in zip(*rows, strict=True)]
    how: How = "asked" if asked else "read"
    return Comparison(one.strategy, other.strategy, at, how, spread(differences))
