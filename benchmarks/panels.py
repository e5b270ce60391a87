"""Panels over a long session: how long each keeps everything else waiting while it opens."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, cast

from textual.pilot import Pilot

from benchmarks.bench_compaction import SIZES, working
from benchmarks.bench_transcript import SIZE
from benchmarks.stalls import painted, stalls
from pinfold.agent.builder import build
from pinfold.agent.clock import SystemClock
from pinfold.agent.options import Options
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.agent.session import Session
from pinfold.headless import no_terminal
from pinfold.ports.approver import Approver
from pinfold.ports.provider import ModelInfo
from pinfold.providers.silent import Silent
from pinfold.rollout.store import SessionStore
from pinfold.tokens.counter import Counter
from pinfold.tui.app import PinfoldApp
from pinfold.tui.screen_config import ScreenConfig

MODEL = ModelInfo("m", "replay", 2_000_000, "config", 32_000)
LINES = SIZES["1M tokens"][0]


@asynccontextmanager
async def long_session(folder: Path) -> AsyncIterator[Session]:
    """5,000 items, 1M tokens, all in view."""
    clock = SystemClock()
    journal = SessionStore(folder / "home").create(folder, "bench", clock.now)
    journal.append(*islice(working(LINES), 1, None))
    counter = Counter(MODEL.encoding)
    counter.load()

    async def connect(_: str) -> Connection:
        return Connection(Silent(), MODEL, "chat", "")

    session = await build(
        journal,
        folder,
        await connect(""),
        (),
        no_terminal,
        clock,
        Options(),
        counter=counter,
        user_folder=folder,
        connect=connect,
        learned_windows=LearnedWindows(folder / "home"),
    )
    try:
        yield session
    finally:
        await session.close()


@asynccontextmanager
async def shown(session: Session, folder: Path) -> AsyncIterator[Pilot[str]]:
    """The shell, with all of the transcript up."""

    async def start(_: Approver) -> Session:
        return session

    host = cast("Any", SimpleNamespace(save_compact=None))
    app = PinfoldApp(start, host, ScreenConfig(cwd=folder, history=folder / "history.jsonl"))
    async with app.run_test(size=SIZE) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        gc.freeze()  # as the shell does
        yield pilot


async def opening(app: PinfoldApp, open_it: Callable[[], object]) -> float:
    """The longest stall, in CPU milliseconds, until the panel shows all that it has to tell."""
    under = app.screen

    def at_work() -> bool:
        of_panel = (worker for worker in app.workers if worker.node is app.screen)
        return app.screen is under or not all(worker.is_finished for worker in of_panel)

    async def opened() -> None:
        open_it()
        while at_work():
            await asyncio.sleep(0.001)
        await painted(app)

    gc.collect()  # what was open before is not this panel's
    longest = await stalls(opened)
    while app.screen is not under:
        app.pop_screen()
        await painted(app)
    return longest


async def panels() -> dict[str, float]:
    """By panel. The window is compacted before the last two are opened: those look back."""
    found: dict[str, float] = {}
    with TemporaryDirectory() as root:
        folder = Path(root)
        async with long_session(folder) as session, shown(session, folder) as pilot:
            app = cast("PinfoldApp", pilot.app)

            async def measure(name: str, open_it: Callable[[], object]) -> None:
                found[name] = await opening(app, open_it)

            options = session.compaction.options
            await measure("/context", lambda: app.open("context"))
            await measure("/checkpoint", lambda: app.open("checkpoint"))
            await measure("/core", lambda: app.open("core"))
            await measure("/compact --dry-run", lambda: app.preview("layered", options))
            await measure("/eval", lambda: app.open("eval"))
            await session.compact("checkpoint")
            await measure("/history", lambda: app.open("history"))
            await measure("/lost", lambda: app.open("lost", "1"))
    return found
