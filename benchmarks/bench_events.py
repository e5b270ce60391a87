"""Events: what each costs a session of 5,000 items, and a rollout of 50 MB read from nothing."""

import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median, quantiles

from benchmarks.bench_compaction import ITEMS, working
from benchmarks.bench_resume import EVENTS, parsing, resuming, write
from benchmarks.bench_resume import working as sessions
from benchmarks.figures import Figure
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.digests.record import DigestRecord
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import Event
from pinfold.rollout.journal import ROLLOUT
from pinfold.tokens.counter import Counter
from pinfold.window.gauge import Gauge
from pinfold.window.window import Window

LINES = 4
"""Of each tool result: 5,000 items are 200k tokens."""
LAST = 500
"""Events at the end of that session, whose costs are taken one by one."""
REDUCER = 30.0
"""Microseconds an event."""
MODEL = ModelInfo("m", "p", 400_000, "config")


def run() -> Iterable[Figure]:
    counter = Counter("o200k_base")
    counter.load()
    told = [Event(seq, datetime.now(UTC), data) for seq, data in enumerate(working(LINES), 1)]
    checkpoint, record = CheckpointState(), DigestRecord()
    mean = spent(lambda: _fold(told, checkpoint.step)) / len(told)
    yield Figure("the checkpoint's reducer, an event", mean, "µs CPU", target=REDUCER)
    mean = (spent(lambda: _fold(told, record.step)) + spent(record.catch_up)) / len(told)
    yield Figure("the digest, an event, its text read", mean, "µs CPU")
    last = gauging(told, counter)
    about = f"the gauge, an event and a reading among {ITEMS:,} items"
    yield Figure(f"{about}, p50", median(last), "µs CPU")
    yield Figure(f"{about}, p95", quantiles(last, n=20)[-1], "µs CPU")
    yield rebuilding()


def _fold(told: Sequence[Event], step: Callable[[Event], None]) -> None:
    for event in told:
        step(event)


def gauging(told: Sequence[Event], counter: Counter) -> list[float]:
    """Microseconds that each of the last events costs window and gauge, the reading included."""
    window = Window()
    gauge = Gauge(window, counter, "responses")

    def take(event: Event) -> None:
        window.step(event)
        gauge.step(event)
        gauge.reading(MODEL)

    for event in told[:-LAST]:
        take(event)
    gauge.count_ahead(told[-LAST:])  # as a session does, in the thread that writes them down
    return [spent(partial(take, event)) for event in told[-LAST:]]


def rebuilding() -> Figure:
    """All projections of a long rollout, from the first event on."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "half"
        write(folder, islice(sessions(), EVENTS // 2))
        size = (folder / ROLLOUT).stat().st_size / 1e6
        parsed, anew = parsing(folder), resuming(folder)
    against = "json.loads of its lines"
    return Figure(f"rebuild a rollout of {size:.0f} MB", anew, "ms CPU", parsed, against)


def spent(act: Callable[[], object]) -> float:
    """CPU microseconds."""
    before = time.thread_time()
    act()
    return (time.thread_time() - before) * 1e6
