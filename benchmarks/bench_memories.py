"""Memories: the recorded sessions through both phases, without a model and by a scripted one.

The sessions are adopted first. The model is behind HTTP on this machine and answers at once, so its
time is that of everything else; every fifth statement that it writes is false.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bench_memory_kept import SESSIONS
from benchmarks.figures import Figure
from benchmarks.strong_model import MARK, StrongModel
from pinfold.adopt import detect
from pinfold.agent.clock import SystemClock
from pinfold.agent.requests.connection import Connection
from pinfold.memories.consolidate import ConsolidationOutcome, consolidate
from pinfold.memories.pipeline import Connect, Phase1, PipelineReport
from pinfold.memories.places import MEMORY, MemoryPlaces
from pinfold.memories.state import MemoriesState
from pinfold.memories.statements import statements
from pinfold.ports.provider import ModelInfo
from pinfold.providers.http_provider import HttpProvider
from pinfold.rollout.store import SessionStore
from pinfold.settings import MemorySettings
from pinfold.tokens.counter import Counter

WINDOW = 128_000
CLOCK = SystemClock()


def run() -> Iterable[Figure]:
    for measure in _offline, _by_model:
        with TemporaryDirectory() as folder:
            yield from asyncio.run(measure(Path(folder), _adopt(Path(folder))))


def _adopt(home: Path) -> int:
    """The recorded sessions as sessions of this home; how many there are."""
    store = SessionStore(home)
    files = sorted(path for path in SESSIONS.glob("*/*.json*") if path.is_file())
    for path in files:
        events = detect.read(path).events
        store.adopt(events, Path("/work/project"), "0", CLOCK.now).close()
    return len(files)


async def _offline(home: Path, sessions: int) -> list[Figure]:
    report, outcome, seconds = await _run(home, None)
    return list(_figures("without a model", home, report, outcome, seconds, sessions))


async def _by_model(home: Path, sessions: int) -> list[Figure]:
    counter = Counter("o200k_base")
    counter.load()
    async with StrongModel(counter) as server:

        async def connect() -> Connection:
            provider = HttpProvider("scripted", server.url, None, "chat")
            model = ModelInfo("strong", "scripted", WINDOW, "config")
            return Connection(provider, model, "chat", "", base_url=server.url)

        report, outcome, seconds = await _run(home, connect)
    figures = list(_figures("by a model", home, report, outcome, seconds, sessions))
    left_out = sum(report.left_out.values())
    return [
        *figures,
        Figure(
            "by a model: tokens that it read, a session", report.usage.input / sessions, "tokens"
        ),
        Figure(
            "by a model: tokens that it wrote, a session", report.usage.output / sessions, "tokens"
        ),
        Figure("by a model: false statements that it wrote", server.false, "statements"),
        Figure("by a model: false ones that were kept", _kept(home), "statements", target=0),
        Figure(
            "by a model: true ones that were left out",
            100 * max(0, left_out - server.false) / server.true,
            "%",
            target=10,
        ),
    ]


async def _run(
    home: Path, connect: Connect | None
) -> tuple[PipelineReport, ConsolidationOutcome, float]:
    settings = MemorySettings(
        max_rollout_age_days=36_500, min_rollout_idle_hours=0, include_adopted=True
    )
    began = time.perf_counter()
    with closing(MemoriesState(home, CLOCK.now)) as state:
        phase1 = Phase1(state, SessionStore(home), settings, CLOCK, limit=1_000, connect=connect)
        report = await phase1.run()
        outcome = await consolidate(MemoryPlaces.of(home), state, CLOCK, settings, connect)
        return report, outcome, time.perf_counter() - began


def _figures(
    how: str,
    home: Path,
    report: PipelineReport,
    outcome: ConsolidationOutcome,
    seconds: float,
    sessions: int,
) -> Iterator[Figure]:
    written = report.proven + sum(report.left_out.values())
    lines = outcome.proven + len(outcome.doubts)
    results = list(report.results.values())
    kept = statements((home / "memories" / MEMORY).read_text(encoding="utf-8"))
    yield Figure(f"{how}: sessions", sessions, "sessions")
    yield Figure(f"{how}: both phases", seconds, "s", target=60)
    yield Figure(f"{how}: phase 1, a session", 1_000 * report.seconds / sessions, "ms")
    yield Figure(f"{how}: sessions with a record", results.count("succeeded"), "sessions")
    yield Figure(f"{how}: sessions that failed", results.count("failed"), "sessions", target=0)
    yield Figure(f"{how}: statements proven", 100 * report.proven / max(1, written), "%")
    yield Figure(f"{how}: lines of the files", len(kept), "lines")
    yield Figure(f"{how}: lines of the files proven", 100 * outcome.proven / max(1, lines), "%")


def _kept(home: Path) -> int:
    with closing(MemoriesState(home, CLOCK.now)) as state:
        return sum(str(MARK) in row.raw_memory for row in state.outputs())
