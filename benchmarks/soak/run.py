"""A soak: turns with faults and edits from a seed, and all that must hold after each."""

import gc
import resource
import shutil
from collections import Counter as Tally
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from random import Random
from typing import Literal

from benchmarks.soak import checks, remains
from benchmarks.soak.changes import Changes
from benchmarks.soak.clock import Clock
from benchmarks.soak.log import Log, reading
from benchmarks.soak.model import FILES, Model
from benchmarks.soak.tools import Broken, Dump, Hanging
from benchmarks.soak.user import User
from benchmarks.soak.violated import Violated, check
from pinfold.agent.builder import build
from pinfold.agent.options import Options
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.agent.updates import Appended, PromptReturned, Told, ToolStarted, Update
from pinfold.headless import no_terminal
from pinfold.ports.provider import ModelInfo, Request
from pinfold.rollout.events import Event, ItemAdded
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore
from pinfold.tokens.counter import Counter
from pinfold.tools.edit_file import EditFile
from pinfold.tools.read_file import ReadFile
from pinfold.tools.shell import ShellTool
from pinfold.tools.write_file import WriteFile

MODELS = {
    info.name: info
    for info in (
        ModelInfo("scripted-1", "scripted", 8_192, "config"),
        ModelInfo("scripted-2", "scripted", 7_168, "config"),
    )
}
REBUILD = 100
"""Turns after which all that is folded is compared with the journal."""
AGAIN = {"resumed": 0.008, "killed": 0.008, "forked": 0.003, "rewound": 0.003}
"""How often, in turns, the session is left and taken up again so."""
ROOM = 3_000
"""Bytes that the full disk has left, at most."""

How = Literal["resumed", "killed", "forked", "rewound"]


class Soak:
    """A session and those who act on it. What happens follows from the seed."""

    def __init__(self, root: Path, seed: int, encoding: str) -> None:
        rng = Random(seed)
        self.turn = 0
        self.tally: Tally[str] = Tally()
        """What happened to turns and to the session, by name."""
        self._root = root
        self._image = root / "image"
        self._rng = rng
        self._clock = Clock()
        self._store = SessionStore(root / "home")
        self.counter, self._fresh = Counter(encoding), checks.Fresh(encoding)
        for counter in (self.counter, self._fresh):
            counter.load()
        self.model = Model(Random(rng.random()), self._fresh)
        self.model.looks, self.model.meanwhile = self._look, self._meanwhile
        self.user = User(Random(rng.random()), list(MODELS))
        self._came: list[str] = []
        """Prompts of this step that stand in the journal."""
        self._returned: list[str] = []
        """Those that came back to the user."""
        self._problem = ""
        """What was seen in the midst of a turn and must not be."""
        self._interrupted = self._given_up = self._killed = False

    @property
    def items(self) -> int:
        return self._log.items

    @property
    def compactions(self) -> int:
        return self._log.compactions

    async def start(self) -> None:
        (self._root / "src").mkdir()
        for name in FILES:
            (self._root / name).write_text("x = 1\n" * 20)
        journal = self._store.create(self._root, "soak", self._clock.now)
        self._log = Log(journal.folder)
        await self._open(journal, MODELS["scripted-1"])

    async def _open(self, journal: Journal, model: ModelInfo) -> None:
        async def connect(name: str) -> Connection:
            return Connection(self.model, MODELS[name], "chat", "")

        tools = (Dump(), Broken(), Hanging(), ReadFile(), WriteFile(), EditFile(), ShellTool())
        self.session = await build(
            journal,
            self._root,
            await connect(model.name),
            tools,
            no_terminal,
            self._clock,
            Options(approvals="full"),
            counter=self.counter,
            user_folder=self._root / "config",
            connect=connect,
            learned_windows=LearnedWindows(self._root / "home"),
        )
        self._heard = self.session._record.state.seq
        self._changes = Changes(self.session._record.window)
        self.session.subscribe(self._hear)

    async def step(self, *, full_disk: bool = False) -> None:
        """A turn, and what the user does before it. Raises `Violated`."""
        self.turn += 1
        self._came, self._returned, self.user.sent = [], [], {}
        self._interrupted = self._given_up = False
        self.model.begin()
        for _ in range(self._rng.choice([0, 0, 1, 1, 2])):
            await self.user.act(self.session)
            await self.session.idle()
        if self._rng.random() < 0.05:
            path = self._root / self._rng.choice(FILES)
            path.write_text("x = 1\n" * self._rng.randint(1, 40))
        with self._full_disk() if full_disk else nullcontext():
            await self._converse()
        await self._check_ending(full_disk=full_disk)
        self._log.read_on(self.session)
        self._log.check_recalled(self.session, self._rng)
        checks.check_gauge(self.session, self._fresh)
        checks.check_rest(self.session)
        if self.turn % REBUILD == 0:
            checks.check_rebuilt(self.session, self.counter)
        await self._leave()

    async def close(self) -> None:
        """Raises `Violated`."""
        checks.check_rebuilt(self.session, self.counter)
        await self.session.close()
        checks.check_closed(self.session, killed=self._killed)

    def newest(self, count: int) -> list[Event]:
        """The last events in the rollout."""
        with reading(self.session.folder) as journal:
            return list(journal.read())[-count:]

    async def _converse(self) -> None:
        prompt = f"Now link part {self.turn}. " + "Mind the edge. " * self._rng.randint(0, 40)
        if self._rng.random() < 0.02:
            prompt += "Part of the log. " * 1_500  # more than half a window
        self.user.send(self.session, prompt)
        await self.session.idle()
        for text in self.user.sent:
            back = any(text in returned for returned in self._returned)
            check(text in self._came or back, f"a prompt is lost: {text[:40]}")

    async def _meanwhile(self) -> None:
        """While a reply streams."""
        chance = self._rng.random()
        if chance < 0.03:
            self._interrupt()
        elif chance < 0.12:
            await self.user.interfere(self.session)

    def _interrupt(self) -> None:
        self._interrupted = True
        self.session.interrupt()

    def _look(self, request: Request) -> None:
        """Every request of a turn."""
        self._changes.sent()
        try:
            self._log.read_on(self.session)  # what a model sees is on the disk before
            checks.check_request(self.session, request, self._fresh)
            reading = self.session.reading()
            if self.session.auto != "off" and not self._given_up:
                check(reading.used <= reading.limit, f"a request of {reading.used} tokens is sent")
        except Violated as violated:
            self._problem = self._problem or str(violated)
        if self._rng.random() < AGAIN["killed"] / 2 and not self._image.exists():
            remains.take(self.session.folder, self._image)

    def _hear(self, update: Update) -> None:
        match update:
            case Appended(event=event):
                self._heard += 1
                if isinstance(event.data, ItemAdded) and event.data.item.kind == "user":
                    self._came.append(event.data.item.content)
                try:
                    check(event.seq == self._heard, f"{event.seq} is heard as {self._heard}")
                    self._log.read_on(self.session)
                    self._changes.hear(event, self._log.goal, tuple(self._log.stated))
                except Violated as violated:
                    self._problem = self._problem or str(violated)
            case Told(text=text):
                self._given_up = self._given_up or text.startswith("Not compacted")
                if "pinfold failed" in text:
                    self._problem = text
            case PromptReturned(text=text):
                self._returned.append(text)
            case ToolStarted(name="hang"):
                self._interrupt()

    async def _check_ending(self, *, full_disk: bool) -> None:
        check(not self._problem, self._problem)
        session, state = self.session, self.session._record.state
        if full_disk and (state.turn_open or self._returned):
            self.tally["cut short by a full disk"] += 1
            return
        self.tally[state.turn_state] += 1
        excused = full_disk or self.model.fatal or session.auto == "off"
        match state.turn_state:
            case "interrupted":
                check(self._interrupted, "a turn was interrupted by nobody")
            case "failed":
                check("pinfold failed" not in state.turn_reason, state.turn_reason)
                check(excused or self._given_up, f"a turn failed: {state.turn_reason}")
                await self.user.heed(session)
            case "waiting":  # for a sign-in
                check(excused, f"a turn waits: {state.turn_reason}")
            case ending:
                check(ending == "done", f"a turn ended as {ending!r}")

    # Leaving, and going on

    async def _leave(self) -> None:
        """Now and then. Raises `Violated`."""
        chance = self._rng.random()
        if self._image.exists():
            await self._again("killed")
        elif chance < AGAIN["resumed"]:
            await self._again("resumed")
        elif chance < AGAIN["resumed"] + AGAIN["forked"]:
            await self._again("forked")
        elif chance < AGAIN["resumed"] + AGAIN["forked"] + AGAIN["rewound"]:
            await self._again("rewound")

    async def _again(self, how: How) -> None:
        """Close the session, and open it, what a kill left of it, or a copy."""
        self.tally[how] += 1
        session, log, now = self.session, self._log, self._clock.now
        model, folder = session.model, session.folder
        await session.close()
        checks.check_closed(session, killed=self._killed)
        self._killed = how == "killed"
        match how:
            case "resumed":
                journal = Journal.open(folder, now)
            case "killed":
                remains.put(self._image, folder, self._rng)
                journal = Journal.open(folder, now)
            case "forked":
                last = self._rng.choice([None, max(1, log.items - self._rng.randint(0, 20))])
                journal, _ = self._store.fork(folder, last, now)
            case "rewound":
                users = (item for item in session.items[-200:] if item.kind == "user")
                prompts = [item.n for item in users if "replaces" not in item.detail]
                journal = self._store.rewind(folder, self._rng.choice(prompts[-3:]), now)
        if how != "resumed":
            self._log = Log(journal.folder)
            self._log.resumed_from(log)
        await self._open(journal, model)
        if how == "killed":
            check(self.session._record.state.turn_state == "interrupted", "a killed turn goes on")
        elif how != "resumed":
            shutil.rmtree(folder)
        del session
        gc.collect()  # the memory that is measured is that of the session that goes on
        if how == "resumed":
            checks.check_rebuilt(self.session, self.counter)

    @contextmanager
    def _full_disk(self) -> Iterator[None]:
        """The rollout can't grow by more than a little."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        size = self.session._record.journal.size + self._rng.randint(0, ROOM)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
