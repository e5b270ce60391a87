"""Tokens saved: what each strategy leaves of a full window, and how long its plan takes."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from itertools import islice
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

from benchmarks.bench_compaction import working
from benchmarks.bench_prepared import Instant, opened
from benchmarks.figures import Figure
from pinfold.agent.options import Options
from pinfold.agent.requests.connection import Connection
from pinfold.compaction.summary import FIELDS
from pinfold.evaluation.author import compose
from pinfold.evaluation.dialogues import dialogues
from pinfold.ports.provider import Delta, ModelInfo, PartDone, Request, ResponseDone
from pinfold.rollout.events import Data, ItemAdded
from pinfold.tokens.counter import Counter

STRATEGIES = ("prune", "checkpoint", "layered", "snapshot", "handoff")
RUNS = 21
FULL = 0.85
"""Of what a request can have, that the window takes."""
REPLY = 8_000
"""Tokens that a reply may have."""
SAID = 60
"""Messages that the summary cites and the notes repeat."""
BUDGET = 16_000
"""Tokens of the dialogue's windows, by which its length is paced."""


class Writer(Instant):
    """Answers with a summary that the items bear out, or with notes of the same."""

    def __init__(self, told: Sequence[Data]) -> None:
        super().__init__()
        items = [event.item for event in told if isinstance(event, ItemAdded)]
        said = [(item.n, item.content[:160]) for item in items if item.kind == "user"][-SAID:]
        entries = [
            {"id": "", "evidence": [{"item": n, "quote": text}], "text": text} for n, text in said
        ]
        rest: dict[str, object] = {name: [] for name in FIELDS}
        self._answer = json.dumps({**rest, "task": entries[-1], "decisions": entries, "gone": []})
        self._notes = "\n".join(f"- {text} (#{n})" for n, text in said)

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        yield PartDone("assistant", self._answer if request.schema is not None else self._notes)
        yield ResponseDone(None, "stop")


def run() -> Iterable[Figure]:
    counter = Counter("o200k_base")
    counter.load()
    talk = compose(dialogues()[0], 1, compactions=1, budget=BUDGET, count=counter.count)
    for name, told in {
        "an agent that reads": list(islice(working(lines=4), 1, None)),
        "a talk with tools": list(talk.stretches[0].events),
    }.items():
        with TemporaryDirectory() as folder:
            yield from asyncio.run(figures(name, told, Path(folder), counter))


async def figures(
    name: str, told: Sequence[Data], folder: Path, counter: Counter
) -> Sequence[Figure]:
    size = sum(counter.count(event.item.content) for event in told if isinstance(event, ItemAdded))
    model = ModelInfo("m", "p", int(size / FULL) + REPLY, "config", REPLY)
    connection = Connection(Writer(told), model, "responses", "")
    session = await opened(folder, connection, told, counter, Options(auto="off"))
    found = []
    try:
        for strategy in STRATEGIES:
            draft = await session.compaction.draft(strategy)
            took = []
            for _ in range(RUNS):
                begun = time.process_time()
                await session.compaction.draft(strategy, material=draft.material)
                took.append((time.process_time() - begun) * 1e3)
            of, sizes = f"{strategy}, {name}", draft.plan.sizes
            keys_told_by = "" if draft.plan.strategy == strategy else f" (by {draft.plan.strategy})"
            before, after = sizes.context + sizes.before, sizes.context + sizes.after
            saved = (before - after) / 1e3
            tokens = "k tokens"
            found += [
                Figure(f"{of}: saved{keys_told_by}", saved, tokens, before / 1e3, "the window"),
                Figure(f"{of}: headroom", sizes.headroom / 1e3, tokens),
                Figure(f"{of}: plan, p50", quantiles(took, n=20)[9], "ms CPU"),
                Figure(f"{of}: plan, p95", quantiles(took, n=20)[18], "ms CPU"),
            ]
    finally:
        await session.close()
    return found
