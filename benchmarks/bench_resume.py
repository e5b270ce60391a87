"""Resuming a long session: a rollout of 100 MB, and one whose million tokens are all in view."""

import asyncio
import gc
import json
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.bench_long_session import ITEMS, Screen, session
from benchmarks.bench_transcript import SIZE
from benchmarks.figures import Figure
from benchmarks.stalls import STALL, painted, stalls
from pinfold.agent.record import Record
from pinfold.rollout.context import Context
from pinfold.rollout.events import (
    SCHEMA,
    ArtifactObserved,
    ContextSet,
    Data,
    ItemAdded,
    ModelChanged,
    RequestFinished,
    SessionStarted,
    TurnFinished,
    TurnStarted,
    WindowReplaced,
)
from pinfold.rollout.items import Item
from pinfold.rollout.journal import ROLLOUT, Journal
from pinfold.rollout.values import PlanBase, Usage
from pinfold.tokens.counter import Counter
from pinfold.tui.transcript.view import Transcript
from pinfold.window.archive import ArchivedItems

EVENTS = 65_718
RUNS = 5
STEPS = 20
"""Responses in a turn."""
VIEW = 200
"""Responses after which the window is compacted."""
TAIL = 30
"""Responses that stay in it."""
OUTPUT = "\n".join(f"src/reader_{n}.py:{n}:    return self._bytes[:{n}]  # ä" for n in range(101))


def now() -> datetime:
    return datetime.now(UTC)


def working() -> Iterator[Data]:
    """A session that reads files for days, and is compacted when its window is full."""
    yield ContextSet(hash="1", context=Context(instructions="Be brief. " * 400))
    yield ModelChanged(provider="p", model="m", context_window=400_000, window_source="config")
    n = response = turn = generation = seq = 0
    tail: list[int] = []
    while True:
        turn += 1
        yield TurnStarted(turn=turn)
        n += 1
        yield ItemAdded(item=Item(n=n, kind="user", content=f"Look at reader {n}.", turn=turn))
        for _ in range(STEPS):
            response += 1
            call = f"call_{response:024x}"
            path = f"src/reader_{response % 500}.py"
            in_turn: dict[str, Any] = {
                "turn": turn,
                "response": response,
                "call_id": call,
                "name": "read_file",
            }
            arguments = json.dumps({"path": path, "offset": response})
            yield ItemAdded(item=Item(n=n + 1, kind="tool_call", content=arguments, **in_turn))
            yield ItemAdded(item=Item(n=n + 2, kind="tool_result", content=OUTPUT, **in_turn))
            yield ArtifactObserved(uri=path, kind="file", op="read", hash="0" * 40, item=n + 2)
            yield RequestFinished(
                purpose="turn",
                provider="p",
                model="m",
                response=response,
                through_seq=seq,
                estimate=9_000,
                status="ok",
                usage=Usage(input=9_000, cached=8_000, output=100),
            )
            n += 2
            tail = [*tail[2 * (1 - TAIL) :], n - 1, n]
        yield TurnFinished(turn=turn, state="done")
        if response % VIEW == 0:
            n += 1
            generation += 1
            summary = Item(n=n, kind="summary", content="What was done so far. " * 200)
            yield WindowReplaced(
                generation=generation,
                base=PlanBase(generation - 1, seq),
                reason="threshold",
                strategy="layered",
                window=tuple((number, "full") for number in [n, *tail]),
                inserted=(summary,),
            )


def in_view() -> Iterator[Data]:
    """5,000 items, 1M tokens, never compacted."""
    for item in session(ITEMS):
        yield ItemAdded(item=item)


def write(folder: Path, data: Iterable[Data]) -> None:
    started = SessionStarted(schema=SCHEMA, id=folder.name, cwd="/", version="1")
    with Journal.create(folder, started, now) as journal:
        journal.append(*data)


def opened(folder: Path) -> Record:
    return Record(Journal.open(folder, now), Counter("o200k_base"), "chat")


def parsing(folder: Path) -> float:
    """CPU milliseconds of `json.loads` over the lines."""
    before = time.process_time()
    with (folder / ROLLOUT).open("rb") as lines:
        for line in lines:
            json.loads(line)
    return (time.process_time() - before) * 1e3


def resuming(folder: Path) -> float:
    """CPU milliseconds until the record stands."""
    before = time.process_time()
    record = opened(folder)
    took = (time.process_time() - before) * 1e3
    record.journal.close()
    return took


async def gap(folder: Path) -> float:
    """Milliseconds that the event loop waits for its turn, at worst, while a thread resumes."""
    longest, last = 0.0, time.perf_counter()
    making = asyncio.create_task(asyncio.to_thread(opened, folder))
    while not making.done():
        await asyncio.sleep(0.001)
        longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
    (await making).journal.close()
    return longest * 1e3


async def opening(folder: Path) -> tuple[float, float]:
    """Milliseconds from a record to its painted transcript; the longest stall meanwhile."""
    gc.freeze()  # as the shell does, before it opens a session
    record = opened(folder)
    window, took = record.window, 0.0
    app = Screen()
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.query_one(Transcript)
        await transcript.warm()
        await pilot.pause()

        async def load() -> None:
            nonlocal took
            before = time.perf_counter()
            transcript.load(ArchivedItems(window.archive, tuple(window.archive)))
            await painted(app)
            took = (time.perf_counter() - before) * 1e3
            while transcript._conversation.past:  # what is above comes piece by piece
                await asyncio.sleep(0.001)

        longest = await stalls(load)
    record.journal.close()
    return took, longest


def run() -> Iterable[Figure]:
    sizes = {
        "100 MB": islice(working(), EVENTS - 1),
        "1M tokens in view": in_view(),
    }
    targets = {"100 MB": 0.25}
    with tempfile.TemporaryDirectory() as root:
        for name, data in sizes.items():
            folder = Path(root) / name
            write(folder, data)
            parsed = median(parsing(folder) for _ in range(RUNS))
            against = "json.loads of its lines"
            anew = resuming(folder)
            asyncio.run(opened(folder).close())
            cached = median(resuming(folder) for _ in range(RUNS))
            yield Figure(f"resume {name}", cached, "ms CPU", parsed, against, targets.get(name))
            os.utime(folder / ROLLOUT)
            yield Figure(
                f"resume {name}, its file touched", resuming(folder), "ms CPU", parsed, against
            )
            yield Figure(f"resume {name} without the cache", anew, "ms CPU", parsed, against)
            asyncio.run(opened(folder).close())
            waited = min(asyncio.run(gap(folder)) for _ in range(RUNS))
            yield Figure(f"the loop's longest wait, {name}", waited, "ms", target=STALL)
            took, stall = asyncio.run(opening(folder))
            yield Figure(f"from the record of {name} to its painted transcript", took, "ms")
            yield Figure(f"longest stall meanwhile, {name}", stall, "ms CPU", target=STALL)
