"""What `pinfold eval` finds that each strategy loses after three compactions to 4,000 tokens."""

import asyncio
from collections.abc import Iterable

from benchmarks.figures import Figure
from pinfold.evaluation.evaluate import EvalWish, evaluate, known
from pinfold.evaluation.scores import EXPECTED, Evaluation
from pinfold.tokens.catalog import O200K
from pinfold.tokens.counter import Counter

TRIALS = 3
STRATEGIES = ("checkpoint", "layered", "tail", "masking")


def run() -> Iterable[Figure]:
    found = asyncio.run(_evaluated())
    yield Figure("conversations", len(found.conversations), "")
    for result in found.results:
        name = result.strategy
        if result.kind == "ours" and name == "checkpoint":
            for probe, spread in result.points[-1].read.probes.items():
                yield Figure(f"{name}: lost of {probe}", 1 - spread.mean, "")
            for point, (least, _) in zip(result.points[1:], EXPECTED, strict=True):
                lost = 1 - point.read.coherence.mean
                after = f"goal coherence, after {point.compactions}"
                yield Figure(f"{name}: lost of {after}", lost, "", target=1 - least)
        yield Figure(f"{name}: lost", 1 - result.points[-1].read.overall.mean, "")


async def _evaluated() -> Evaluation:
    counter = Counter(O200K)
    await asyncio.to_thread(counter.load)
    return await evaluate(EvalWish(trials=TRIALS), known(STRATEGIES), counter)
