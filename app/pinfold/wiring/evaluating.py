"""`pinfold eval`: compares strategies on made-up conversations; on files, see `recordings`."""

import argparse
import asyncio
from collections.abc import Sequence
from typing import Self

from msgspec.structs import replace

from pinfold import __version__, paths
from pinfold.agent.clock import CLOCK
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.writing import Writer
from pinfold.commands.arguments import CommandError
from pinfold.evaluation import report_recorded, report_trials
from pinfold.evaluation.author import MOST_COMPACTIONS
from pinfold.evaluation.evaluate import (
    BUDGET,
    Chosen,
    EvalProgress,
    EvalWish,
    Speakers,
    evaluate,
    known,
)
from pinfold.evaluation.scores import Evaluation
from pinfold.evaluation.terminal import WIDTH, explained
from pinfold.evaluation.trials import WINDOW
from pinfold.host.app_context import AppContext, WrongUse, app_context
from pinfold.host.models import connect
from pinfold.host.prices import prices
from pinfold.numbers import duration
from pinfold.output import end_progress, print_progress, print_table
from pinfold.providers.embedded import Embedded
from pinfold.tokens.catalog import O200K
from pinfold.tokens.counter import Counter
from pinfold.tokens.prices import Price, price_of
from pinfold.wiring import recordings
from pinfold.wiring.eval_output import check_report, show

OF_GATE = ("with_model", "against", "baseline", "write_baseline", "junit", "markdown")
LEAST_BUDGET = 500
"""Tokens; with fewer, no strategy can keep anything."""
MOST_BUDGET = 128_000
"""Tokens; no model's window holds more of these conversations."""
SURE = 0.05
"""Share that must be done before the time left is estimated."""
HELLO = "Say yes."
MOST_HELLO = 16
"""Tokens."""


def evaluation(arguments: argparse.Namespace) -> int:
    """Raises `WrongUse`, `ProviderError`, `CommandError`, `OSError`."""
    if arguments.explain:
        if recordings.asked(arguments):
            print_table(explained([report_recorded.MEASURED]), width=WIDTH)
        else:
            print_table(explained([report_trials.SCORED]), width=WIDTH)
            print(report_trials.JSON)
        return 0
    check_report(arguments.html)
    ctx = app_context(arguments)
    if arguments.gate is not None:
        from pinfold.wiring.gate_command import gate

        return gate(ctx, arguments)
    if of_gate := [name for name in OF_GATE if getattr(arguments, name)]:
        raise WrongUse(f"--{of_gate[0].replace('_', '-')} goes with --gate RULES.toml.")
    if recordings.asked(arguments):
        _wish(arguments)
        return recordings.evaluation(ctx, arguments, _strategies(arguments))
    begun, started = CLOCK.now(), CLOCK.monotonic()
    try:
        found = asyncio.run(_evaluated(ctx, arguments))
    except KeyboardInterrupt:
        raise CommandError(
            "interrupted before a trial was finished; there is nothing to show."
        ) from None
    seconds = round(CLOCK.monotonic() - started, 1)
    found = replace(found, seconds=seconds, version=__version__, at=begun)
    show(found, report_trials.report(found), arguments)
    if found.interrupted:
        raise CommandError(
            f"interrupted; {found.trials} of {arguments.trials} trials were finished."
        )
    return 0


async def _evaluated(ctx: AppContext, arguments: argparse.Namespace) -> Evaluation:
    """Raises `WrongUse`, `ProviderError`."""
    model: str | None = getattr(arguments, "model", None)
    if model is None and arguments.judge is not None:
        raise WrongUse("--judge grades a model's answers: name that model with --model.")
    wish, strategies = _wish(arguments), _strategies(arguments)
    if model is None:
        _check_without_model(wish, strategies)
        counter = await _counter(O200K)
        async with _Watch() as watch:
            return await evaluate(wish, strategies, counter, listener=watch.hear)
    writer = await connect(ctx, model)
    judge = writer
    try:
        if arguments.judge is not None:
            judge = await connect(ctx, arguments.judge)
        counter = await _counter(writer.model.encoding)
        # The full window leaves room for instructions, question and answer.
        most = writer.model.context_window // (WINDOW + 2)
        if arguments.budget is not None and wish.budget > most:
            raise WrongUse(f"--budget is at most {most:,} here: a tenth of the window of {model}.")
        wish = replace(wish, budget=min(wish.budget, most))
        speakers = await _speakers(writer, judge, counter, prices(ctx.settings))
        async with _Watch(speakers) as watch:
            await _greet(speakers)
            return await evaluate(wish, strategies, counter, speakers, watch.hear)
    finally:
        await writer.provider.close()
        if judge is not writer:
            await judge.provider.close()


def _wish(arguments: argparse.Namespace) -> EvalWish:
    """Raises `WrongUse`."""
    if not 1 <= arguments.compactions <= MOST_COMPACTIONS:
        raise WrongUse(f"--compactions takes a number from 1 to {MOST_COMPACTIONS}.")
    if arguments.trials < 1:
        raise WrongUse("--trials takes a number, 1 or more.")
    if arguments.conversations is not None and arguments.conversations < 1:
        raise WrongUse("--conversations takes a number, 1 or more.")
    if arguments.budget is not None and arguments.budget < LEAST_BUDGET:
        raise WrongUse(f"--budget takes a number of tokens, {LEAST_BUDGET} or more.")
    return EvalWish(
        trials=arguments.trials,
        compactions=arguments.compactions,
        budget=arguments.budget or BUDGET,
        seed=arguments.seed,
        conversations=arguments.conversations,
    )


def _strategies(arguments: argparse.Namespace) -> list[Chosen]:
    """Raises `WrongUse`."""
    try:
        return known(arguments.strategy or ())
    except KeyError as missing:
        names = ", ".join(strategy.name for strategy, _ in known())
        raise WrongUse(f"There is no strategy {missing.args[0]}. There are: {names}.") from None


def _check_without_model(wish: EvalWish, strategies: Sequence[Chosen]) -> None:
    """Raises `WrongUse`."""
    if all(strategy.needs_model for strategy, _ in strategies):
        raise WrongUse("These strategies use a model: name it with --model.")
    if wish.budget > MOST_BUDGET:
        raise WrongUse(f"--budget is at most {MOST_BUDGET:,} tokens.")


async def _speakers(
    writer: Connection, judge: Connection, counter: Counter, known_prices: dict[str, Price]
) -> Speakers:
    own = counter if judge is writer else await _counter(judge.model.encoding)
    smoke = Embedded.name in (writer.model.provider, judge.model.provider)

    def speaker(of: Connection, counter: Counter) -> Writer:
        price = price_of(of.model.provider, of.model.name, known_prices)
        return Writer(of.provider, of.model, counter, CLOCK, price=price)

    return Speakers(speaker(writer, counter), speaker(writer, counter), speaker(judge, own), smoke)


async def _greet(speakers: Speakers) -> None:
    """Fail now if no question could be answered. Raises `ProviderError`."""
    for speaker in (speakers.asked, speakers.judge):
        await speaker("", HELLO, MOST_HELLO)


async def _counter(encoding: str) -> Counter:
    counter = Counter(encoding, paths.cache_folder())
    await asyncio.to_thread(counter.load)
    return counter


class _Watch:
    """Shows progress and the time left."""

    def __init__(self, speakers: Speakers | None = None) -> None:
        self._speakers = speakers
        self._began = CLOCK.monotonic()
        self._at = "beginning"
        self._ticking = asyncio.create_task(self._tick())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ticking.cancel()
        end_progress()

    def hear(self, at: EvalProgress) -> None:
        share = at.done / at.every
        left = ""
        if share >= SURE:
            left = f", about {duration(self._gone * (1 - share) / share)} left"
        self._at = f"{at.done}/{at.every} compactions{left}: {at.conversation}, {at.strategy}"
        self._show()

    @property
    def _gone(self) -> float:
        return CLOCK.monotonic() - self._began

    @property
    def _doing(self) -> str:
        """What a model is doing."""
        if (of := self._speakers) is None:
            return ""
        work = ((", writing", of.writer), (", answering", of.asked), (", grading", of.judge))
        return next((name for name, speaker in work if speaker.is_busy), "")

    def _show(self) -> None:
        print_progress(f"{duration(self._gone)} · {self._at}{self._doing}")

    async def _tick(self) -> None:
        while True:
            self._show()
            await CLOCK.sleep(1)
