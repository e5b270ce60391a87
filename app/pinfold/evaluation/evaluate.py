"""An evaluation: all strategies on all conversations."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from pinfold.agent.context import instructions
from pinfold.agent.requests.writing import Writer
from pinfold.compaction.strategies.registry import registry
from pinfold.compaction.strategy import Strategy
from pinfold.evaluation import trials
from pinfold.evaluation.author import compose
from pinfold.evaluation.baselines import baselines
from pinfold.evaluation.dialogues import Dialogue, dialogues
from pinfold.evaluation.exam import Exam
from pinfold.evaluation.results import compared, result, spent_of
from pinfold.evaluation.scores import Evaluation, Kind
from pinfold.evaluation.trials import WINDOW, Setting, Trial
from pinfold.evaluation.verdict import verdict
from pinfold.ports.provider import ModelInfo
from pinfold.settings import strategy_named
from pinfold.tokens.counter import Counter

BUDGET = 4_000
"""Tokens: the default, unless the model's window is too small for it."""

Chosen = tuple[Strategy, Kind]


class EvalWish(Struct, frozen=True):
    """What to evaluate."""

    trials: int = 5
    compactions: int = 3
    budget: int = BUDGET
    """Tokens that a window may have after a compaction."""
    seed: int = 1
    conversations: int | None = None
    """How many each trial uses, others in each. Default: all, or one if a model is asked."""


class Speakers(Struct, frozen=True):
    """The models that take part."""

    writer: Writer
    """Writes for strategies."""
    asked: Writer
    """The same model, to answer questions."""
    judge: Writer
    smoke: bool


class EvalProgress(Struct, frozen=True):
    done: int
    """Compactions."""
    every: int
    conversation: str
    strategy: str
    """The one that is about to compact."""


Listener = Callable[[EvalProgress], None]


def known(names: Iterable[str] = ()) -> list[Chosen]:
    """The strategies of these names, or all: ours, then baselines. Raises `KeyError`."""
    found: dict[str, Chosen] = {
        name: (strategy, "ours") for name, strategy in registry().strategies.items()
    }
    found |= {strategy.name: (strategy, "baseline") for strategy in baselines()}
    wanted = dict.fromkeys(map(strategy_named, names))
    return [found[name] for name in wanted] or list(found.values())


async def evaluate(
    wish: EvalWish,
    strategies: Sequence[Chosen],
    counter: Counter,
    speakers: Speakers | None = None,
    listener: Listener = lambda _progress: None,
) -> Evaluation:
    """Run all trials. The same wish gives the same scores, except for what models say.

    If cancelled, returns the results of the finished trials; without any, raises `CancelledError`.
    """
    setting = _setting(wish, counter, speakers)
    chosen = [_chosen(wish, number, speakers is not None) for number in range(wish.trials)]
    able = sum(not strategy.needs_model or speakers is not None for strategy, _ in strategies)
    every = able * wish.compactions * sum(map(len, chosen))
    done = count()

    async def step(conversation: str, strategy: str) -> None:
        """Report a compaction before it begins, and let the event loop run."""
        listener(EvalProgress(next(done), every, conversation, strategy))
        await asyncio.sleep(0)

    runs: list[list[_ConversationTrials]] = []
    """By trial."""
    try:
        for number, some in enumerate(chosen):
            seed = wish.seed + number
            runs.append(
                [
                    await _conversation_trials(one, seed, wish, strategies, setting, step)
                    for one in some
                ]
            )
    except asyncio.CancelledError:
        if not runs:
            raise
    chosen = chosen[: len(runs)]
    writer = speakers.writer if speakers else None
    results = tuple(
        result(strategy, kind, [[ran.trials[at] for ran in some] for some in runs], chosen, writer)
        for at, (strategy, kind) in enumerate(strategies)
    )
    smoke = speakers is not None and speakers.smoke
    found = Evaluation(
        seed=wish.seed,
        trials=len(runs),
        compactions=wish.compactions,
        budget=wish.budget,
        user_share=round(min(ran.user_tokens for some in runs for ran in some) / wish.budget, 2),
        conversations=tuple(sorted({dialogue.title for some in chosen for dialogue in some})),
        model=speakers.writer.name if speakers else "",
        judge=speakers.judge.name if speakers else "",
        smoke=smoke,
        results=results,
        comparison=compared(results, even_asked=not smoke),
        verdict="",
        answering=spent_of(speakers.asked.spent, speakers.asked) if speakers else None,
        grading=spent_of(speakers.judge.spent, speakers.judge) if speakers else None,
        interrupted=len(runs) < wish.trials,
    )
    return replace(found, verdict=verdict(found))


class _ConversationTrials(Struct, frozen=True):
    """The trials of all strategies on one conversation."""

    user_tokens: int
    """Before the first compaction."""
    trials: list[Trial]
    """By strategy."""


async def _conversation_trials(
    dialogue: Dialogue,
    seed: int,
    wish: EvalWish,
    strategies: Sequence[Chosen],
    setting: Setting,
    step: Callable[[str, str], Awaitable[None]],
) -> _ConversationTrials:
    conversation = compose(
        dialogue,
        seed,
        compactions=wish.compactions,
        budget=wish.budget,
        count=setting.counter.count,
    )
    every_one = [strategy for strategy, _ in strategies]
    made = await trials.run(conversation, every_one, setting, partial(step, dialogue.name))
    return _ConversationTrials(conversation.stretches[0].user_tokens, made)


def _setting(wish: EvalWish, counter: Counter, speakers: Speakers | None) -> Setting:
    model = ModelInfo("", "", WINDOW * wish.budget, "config", max_output=0)
    if speakers is None:
        return Setting(wish.budget, counter, model)
    writer = speakers.writer
    model = replace(model, name=writer.model.name, provider=writer.model.provider)
    exam = Exam(speakers.asked, speakers.judge, instructions.own_instructions(writer.model))
    return Setting(wish.budget, counter, model, writer, exam)


def _chosen(wish: EvalWish, trial: int, with_model: bool) -> list[Dialogue]:
    """The dialogues of a trial, others in each."""
    every = dialogues()
    number = wish.conversations or (1 if with_model else len(every))
    if number >= len(every):
        return list(every)
    start = wish.seed + trial * number
    return [every[(start + at) % len(every)] for at in range(number)]
