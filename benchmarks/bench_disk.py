"""The disk: what a session of 2,000 turns and some 1,400 compactions takes; what a fork adds."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from benchmarks.figures import Figure
from pinfold.agent.builder import build
from pinfold.agent.clock import SystemClock
from pinfold.agent.compaction.window_files import archived
from pinfold.agent.options import Options
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.headless import no_terminal
from pinfold.ports.errors import RequestRejected
from pinfold.ports.provider import Compacted, Delta, ModelInfo, PartDone, Request
from pinfold.ports.provider import ResponseDone as Done
from pinfold.rollout import disk
from pinfold.rollout.blobs import COMPRESSED, Blobs
from pinfold.rollout.events import WindowReplaced
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore
from pinfold.rollout.values import is_compaction
from pinfold.tokens.counter import Counter
from pinfold.tools.edit_file import EditFile
from pinfold.tools.read_file import ReadFile
from pinfold.window.window import Window

TURNS = 2_000
SHOT, SHOT_BYTES = 50, 120_000
"""Turns from one screenshot to the next; what one has."""
FILES = 12
LINES = 240
"""Of each file."""
REPLY = 170
"""Words of a reply."""
WORDS = ["read", "limit", "bytes", "open", "cache", "index", "parse", "page", "join"]
MODEL = ModelInfo("m", "p", 8_192, "config", vision=True)
MB = 1e6


class Worker:
    """A model that reads a file, edits a line of it, and says so."""

    name = "p"

    def __init__(self) -> None:
        self.turn = self._step = 0

    def begin(self) -> None:
        self.turn += 1
        self._step = 0

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        path, n, self._step = f"part_{self.turn % FILES}.py", self.turn, self._step + 1
        made = {"path": path}
        if self._step == 1:
            yield PartDone("tool_call", json.dumps(made), f"r{n}", "read_file")
        elif self._step == 2:
            old, new = marked(n - FILES), marked(n)
            edit = json.dumps(made | {"old_string": old, "new_string": new})
            yield PartDone("tool_call", edit, f"e{n}", "edit_file")
        else:
            said = f"Limit {n} stands in {path} now; the tests of it pass."
            yield PartDone("assistant", f"{said} {words(n, REPLY)}")
            yield Done(None, "stop")
            return
        yield Done(None, "tool_calls")

    async def count(self, request: Request) -> int | None:
        return None

    async def compact(self, request: Request) -> Compacted:
        raise RequestRejected("There is no compaction endpoint.")

    async def close(self) -> None:
        pass


def words(seed: int, count: int) -> str:
    rng = Random(seed)
    return " ".join(rng.choice(WORDS) for _ in range(count))


def marked(turn: int) -> str:
    return f"LIMIT = {max(turn, 0)}  # of the reader"


def text(file: int) -> str:
    rng = Random(file)
    lines = [f"    {rng.choice(WORDS)}_{n} = {rng.choice(WORDS)}({n})" for n in range(LINES)]
    return "\n".join([marked(0), "def part():", *lines, ""])


async def worked(root: Path, store: SessionStore) -> Path:
    """The folder of the session, closed."""
    for file in range(FILES):
        (root / f"part_{file}.py").write_text(text(file))
    clock, worker = SystemClock(), Worker()
    connection = Connection(worker, MODEL, "chat", "")
    session = await build(
        store.create(root, "bench", clock.now),
        root,
        connection,
        (ReadFile(), EditFile()),
        no_terminal,
        clock,
        Options(approvals="full"),
        counter=Counter("none"),
        user_folder=root / "config",
        connect=None,
        learned_windows=LearnedWindows(root / "home"),
    )
    for turn in range(1, TURNS + 1):
        worker.begin()
        prompt = f"Raise the limit of part {turn % FILES} to {turn} and mind its edge cases."
        if turn % SHOT == 0:
            name = f"shot_{turn}.png"
            (root / name).write_bytes(b"\x89PNG\r\n\x1a\n" + Random(turn).randbytes(SHOT_BYTES))
            prompt += f" It looks like @{name} now."
        session.send(prompt)
        await session.idle()
    await session.close()
    return session.folder


class Before(Window):
    """Adds up what older versions wrote into `history/`."""

    def __init__(self) -> None:
        super().__init__()
        self.history = self.compactions = 0

    def kept(self, generation: int) -> None:
        self.compactions += 1
        self.history += sum(len(line) + 1 for line in archived(self, generation))


def before(folder: Path) -> tuple[Before, int, int, int]:
    """Windows; bytes of the rollout with pictures in it, of the pictures, of files as they were."""
    windows, rollout, pictures, kept = Before(), 0, 0, 0
    with Journal.open(folder, SystemClock().now, read_only=True) as journal:
        for event in journal.read():
            windows.step(event)
            match event.data:
                case WindowReplaced(base=base, reason=reason) if is_compaction(reason):
                    windows.kept(base.generation)
        rollout = sum(len(line) + 1 for line in journal.whole_lines())
        pictures = rollout - journal.size
    blobs = Blobs(folder)
    for path in blobs.paths():
        name = path.name.removesuffix(COMPRESSED)
        if len(name) == 40:
            kept += len(blobs.read(name) or b"")
    return windows, rollout, pictures, kept


def figures(root: Path) -> Iterator[Figure]:
    store = SessionStore(root / "home")
    folder = asyncio.run(worked(root, store))
    now = disk.size_of(folder)
    windows, rollout, pictures, kept = before(folder)
    rest = now.total - now.rollout - now.blobs
    was = rollout + kept + windows.history + rest
    yield Figure("turns", TURNS, "turns")
    yield Figure("compactions", windows.compactions, "compactions")
    yield Figure("the session", now.total / MB, "MB", was / MB, "as it was stored before")
    yield Figure("the session", now.total / MB, "MB", now.rollout / MB, "its rollout", 3)
    yield Figure("before: the session", was / MB, "MB", rollout / MB, "its rollout")
    yield Figure("earlier windows in `history/`", 0, "MB", windows.history / MB, "before")
    stored = {path: path.stat().st_size for path in Blobs(folder).paths()}
    hashed = {64: 0, 40: 0}
    for path, size in stored.items():
        hashed[len(path.name.removesuffix(COMPRESSED))] += size
    yield Figure("pictures", hashed[64] / MB, "MB", pictures / MB, "as base64")
    yield Figure("files before each edit", hashed[40] / MB, "MB", kept / MB, "uncompressed")
    fork, _ = store.fork(folder, None, SystemClock().now)
    fork.close()
    added = disk.together([folder, fork.folder]) - disk.together([folder])
    yield Figure("what a fork adds", added / MB, "MB", disk.size_of(folder).total / MB, "all of it")


def run() -> Iterable[Figure]:
    with TemporaryDirectory() as root:
        yield from figures(Path(root).resolve())
