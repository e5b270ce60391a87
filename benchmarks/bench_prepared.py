"""A turn that compacts a full window of 200k tokens, from the prompt to its request."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Iterable
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.bench_compaction import working
from benchmarks.figures import Figure
from pinfold.agent.builder import build
from pinfold.agent.clock import SystemClock
from pinfold.agent.options import Options, PreparingOptions
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.agent.session import Session
from pinfold.compaction.summary import FIELDS
from pinfold.headless import no_terminal
from pinfold.ports.errors import RequestRejected
from pinfold.ports.provider import Compacted, Delta, ModelInfo, PartDone, Request, ResponseDone
from pinfold.rollout.events import Data
from pinfold.rollout.store import SessionStore
from pinfold.tokens.counter import Counter

MODEL = ModelInfo("m", "p", 272_000, "config", 32_000)
"""The window of some 226k tokens fills what it can use to 94 %."""
RUNS = 9
ENTRIES = 60
ADDED = 50
"""Milliseconds that a prepared compaction may add to the turn."""


class Instant:
    """A model that answers at once, and notes when the request of a turn came."""

    name = "p"

    def __init__(self) -> None:
        said = "Reader {n} gives back its bytes up to the limit."
        told = [
            {
                "id": "",
                "evidence": [{"item": 10 * n, "quote": said.format(n=n)}],
                "text": said.format(n=n),
            }
            for n in range(1, ENTRIES + 1)
        ]
        nothing: dict[str, object] = {name: [] for name in FIELDS}
        task = {"id": "", "evidence": [], "text": ""}
        summary = {**nothing, "task": task, "decisions": told, "gone": []}
        self._summary = json.dumps(summary)
        self.came = (0.0, 0.0)
        """Wall and CPU milliseconds."""

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        if request.schema is None:
            self.came = now()
        yield PartDone("assistant", "So it is." if request.schema is None else self._summary)
        yield ResponseDone(None, "stop")

    async def count(self, request: Request) -> int | None:
        return None

    async def compact(self, request: Request) -> Compacted:
        raise RequestRejected("There is no compaction endpoint.")

    async def warm(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to close."""


def now() -> tuple[float, float]:
    return time.perf_counter() * 1e3, time.process_time() * 1e3


async def turn(
    folder: Path, counter: Counter, threshold: str, strategy: str
) -> tuple[float, float]:
    """Wall and CPU milliseconds from the prompt to its request, a summary being ready."""
    model = Instant()
    options = Options(
        threshold=1.0, mask_threshold=1.0, preparing=PreparingOptions(True, budget=10.0)
    )
    told = islice(working(lines=4), 1, None)
    session = await opened(
        folder, Connection(model, MODEL, "responses", ""), told, counter, options
    )
    try:
        await prompt(session)
        async with asyncio.timeout(60):
            while session.preparing.state != "ready":
                await asyncio.sleep(0.01)
        session.set_threshold(threshold)
        began = now()
        await prompt(session)
        done = [
            generation.strategy for generation in session.window.generations if generation.strategy
        ]
        assert done == ([strategy] if strategy else []), done
        wall, cpu = (after - before for before, after in zip(began, model.came, strict=True))
        return wall, cpu
    finally:
        await session.close()


async def opened(
    folder: Path, connection: Connection, told: Iterable[Data], counter: Counter, options: Options
) -> Session:
    """A session that has that behind it."""
    clock = SystemClock()
    journal = SessionStore(folder / "home").create(folder, "bench", clock.now)
    journal.append(*told)

    async def connect(_: str) -> Connection:
        return connection

    return await build(
        journal,
        folder,
        connection,
        (),
        no_terminal,
        clock,
        options,
        counter=counter,
        user_folder=folder,
        connect=connect,
        learned_windows=LearnedWindows(folder / "home"),
    )


async def prompt(session: Session) -> None:
    session.send("Go on.")
    await session.idle()


def measured(counter: Counter, threshold: str, strategy: str = "") -> tuple[float, float]:
    with TemporaryDirectory() as folder:
        return asyncio.run(turn(Path(folder), counter, threshold, strategy))


def run() -> Iterable[Figure]:
    counter = Counter(MODEL.encoding)
    counter.load()
    plain, compacting = [], []
    for _ in range(RUNS):  # by turns: the machine may have other work at times
        plain.append(measured(counter, "1.0"))
        compacting.append(measured(counter, "0.85", "layered"))
    for at, unit in enumerate(("ms", "ms CPU")):
        without, with_it = (median(took[at] for took in runs) for runs in (plain, compacting))
        yield Figure("from the prompt to its request", without, unit)
        yield Figure("the same with a prepared compaction", with_it, unit)
        yield Figure("what that adds", with_it - without, unit, target=ADDED)
