"""`pinfold eval`: strategies side by side, on conversations of which all is known; on files, see
`recordings`."""

import argparse
import asyncio
import sys
import time
from collections.abc import Callable
from functools import partial

import msgspec
from msgspec.structs import replace

from pinfold import paths
from pinfold.agent.request import Connection
from pinfold.evaluation import page, recorded_page, report_trials
from pinfold.evaluation.conversation import MOST_COMPACTIONS
from pinfold.evaluation.evaluate import BUDGET, Chosen, Speakers, Wish, evaluate, known
from pinfold.evaluation.scores import Evaluation
from pinfold.evaluation.speaking import Speaker
from pinfold.evaluation.trials import WINDOW
from pinfold.rollout.events import Usage
from pinfold.sanitize import clean
from pinfold.tokens.catalog import O200K
from pinfold.tokens.counter import Counter
from pinfold.tokens.prices import Price, cost
from pinfold.wiring import recordings
from pinfold.wiring.house import House, WrongUse, house
from pinfold.wiring.models import connect
from pinfold.wiring.sessions import CLOCK, prices

LEAST_BUDGET = 500
"""Tokens, below which no strategy has room for anything."""


def evaluation(arguments: argparse.Namespace) -> int:
    """Raises `WrongUse`, `ProviderError`."""
    if arguments.explain:
        lines = recorded_page.explained() if recordings.asked(arguments) else page.explained()
        print("\n".join(lines))
        return 0
    at = house(arguments)
    if recordings.asked(arguments):
        _wish(arguments)
        return recordings.evaluation(at, arguments, _strategies(arguments))
    begun = time.monotonic()
    found = asyncio.run(_evaluated(at, arguments))
    found = replace(found, seconds=round(time.monotonic() - begun, 1))
    if arguments.json:
        print(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        print(clean("\n".join(page.page(found))))
    recordings.write(arguments, lambda: report_trials.render(found))
    return 0


async def _evaluated(at: House, arguments: argparse.Namespace) -> Evaluation:
    """Raises `WrongUse`, `ProviderError`."""
    model: str | None = getattr(arguments, "model", None)
    if model is None and arguments.judge is not None:
        raise WrongUse("--judge grades what a model answers: name that with --model.")
    wish, strategies = _wish(arguments), _strategies(arguments)
    if model is None:
        return await evaluate(wish, strategies, await _counter(O200K), told=_told())
    writer = await connect(at.loaded, model)
    judge = writer
    try:
        if arguments.judge is not None:
            judge = await connect(at.loaded, arguments.judge)
        counter = await _counter(writer.model.encoding)
        most = writer.model.context_window // WINDOW
        if arguments.budget is not None and wish.budget > most:
            raise WrongUse(
                f"--budget is at most {most:,} here: an eighth of the window of {model}."
            )
        wish = replace(wish, budget=min(wish.budget, most))
        speakers = await _speakers(writer, judge, counter, prices(at.settings))
        return await evaluate(wish, strategies, counter, speakers, _told())
    finally:
        await writer.provider.close()
        if judge is not writer:
            await judge.provider.close()


def _wish(arguments: argparse.Namespace) -> Wish:
    """Raises `WrongUse`."""
    if not 1 <= arguments.compactions <= MOST_COMPACTIONS:
        raise WrongUse(f"--compactions is a number from 1 to {MOST_COMPACTIONS}.")
    if arguments.trials < 1:
        raise WrongUse("--trials is a number: 1 or more.")
    if arguments.conversations is not None and arguments.conversations < 1:
        raise WrongUse("--conversations is a number: 1 or more.")
    if arguments.budget is not None and arguments.budget < LEAST_BUDGET:
        raise WrongUse(f"--budget is a number of tokens: {LEAST_BUDGET} or more.")
    return Wish(
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


async def _speakers(
    writer: Connection, judge: Connection, counter: Counter, known_prices: dict[str, Price]
) -> Speakers:
    model = writer.model
    price = known_prices.get(f"{model.provider}/{model.name}") or known_prices.get(model.name)
    speaker = Speaker(writer.provider, model, counter, CLOCK)
    grader = speaker
    if judge is not writer:
        own = await _counter(judge.model.encoding)
        grader = Speaker(judge.provider, judge.model, own, CLOCK)
    smoke = "embedded" in (model.provider, judge.model.provider)
    return Speakers(speaker, grader, smoke, partial(_cost, price))


def _cost(price: Price | None, usage: Usage) -> float | None:
    return None if price is None else cost(usage, price)


async def _counter(encoding: str) -> Counter:
    counter = Counter(encoding, paths.cache_folder())
    await asyncio.to_thread(counter.load)
    return counter


def _told() -> Callable[[int, int], None]:
    """Says how far it is where somebody watches."""

    def told(done: int, every: int) -> None:
        if sys.stderr.isatty():
            ending = "\r\x1b[K" if done == every else ""
            print(f"\r{done}/{every} conversations{ending}", end="", file=sys.stderr, flush=True)

    return told
