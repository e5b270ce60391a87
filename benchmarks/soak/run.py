"""One long session: turns, faults and edits from a seed, and all that must hold after each."""

import resource
from collections import Counter as Tally
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from random import Random

from benchmarks.soak import checks
from benchmarks.soak.checks import Log, Violated, check
from benchmarks.soak.clock import Clock
from benchmarks.soak.model import FILES, Model
from benchmarks.soak.tools import Broken, Dump
from benchmarks.soak.user import User
from pinfold.agent.options import Options
from pinfold.agent.request import Connection
from pinfold.agent.session import Session
from pinfold.agent.updates import Appended, PromptReturned, Told, Update
from pinfold.headless import no_terminal
from pinfold.ports import ModelInfo, Request
from pinfold.rollout.events import WindowReplaced
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore
from pinfold.tokens.counter import Counter
from pinfold.tools.edit_file import EditFile
from pinfold.tools.read_file import ReadFile
from pinfold.tools.write_file import WriteFile

MODELS = {
    each.name: each
    for each in (
        ModelInfo("scripted-1", "scripted", 8_192, "config"),
        ModelInfo("scripted-2", "scripted", 7_168, "config"),
    )
}
REBUILD = 50
"""Turns after which all that is folded is compared with the journal."""
RESUME = 70
"""Turns after which the session is closed and opened again."""
ROOM = 3_000
"""Bytes that the full disk has left, at most."""


class Soak:
    """A session and those who act on it. All that happens follows from the seed."""

    def __init__(self, root: Path, seed: int, encoding: str) -> None:
        rng = Random(seed)
        self.turn = 0
        self.tally: Tally[str] = Tally()
        """What happened to turns, by name."""
        self._root = root
        self._rng = rng
        self._clock = Clock()
        self.counter, self._anew = Counter(encoding), Counter(encoding)
        for counter in (self.counter, self._anew):  # one has nothing of the other's memory
            counter.load()
        self.model = Model(Random(rng.random()), self._anew)
        self.model.looks, self.model.meanwhile = self._look, self._meanwhile
        self.user = User(Random(rng.random()), list(MODELS))
        self._returned: list[str] = []
        """Prompts that came back to the user in this turn."""
        self._problem = ""
        """What a listener saw that must not be."""
        self._interrupted = self._given_up = False

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
        store = SessionStore(self._root / "home")
        journal = store.create(self._root, "soak", self._clock.now)
        self._log = Log(journal.folder)
        await self._open(journal, MODELS["scripted-1"])

    async def _open(self, journal: Journal, model: ModelInfo) -> None:
        async def connect(name: str) -> Connection:
            return Connection(self.model, MODELS[name], "chat", "")

        self.session = await Session.open(
            journal,
            self._root,
            await connect(model.name),
            (Dump(), Broken(), ReadFile(), WriteFile(), EditFile()),
            no_terminal,
            self._clock,
            Options(approvals="full"),
            counter=self.counter,
            user_folder=self._root / "config",
            connect=connect,
        )
        self.session.subscribe(self._hear)

    async def step(self, *, full_disk: bool = False) -> None:
        """A turn, and what the user does before it. Raises `Violated`."""
        self.turn += 1
        for _ in range(self._rng.choice([0, 0, 1, 1, 2])):
            await self.user.act(self.session)
        if self._rng.random() < 0.05:
            path = self._root / self._rng.choice(FILES)
            path.write_text("x = 1\n" * self._rng.randint(1, 40))
        with self._full_disk() if full_disk else nullcontext():
            await self._converse()
        await self._check_ending(full_disk=full_disk)
        self._log.read_on(self.session)
        checks.check_gauge(self.session, self._anew)
        if self.turn % RESUME == 0:
            await self._resume()
        if self.turn % REBUILD == 0:
            checks.check_rebuilt(self.session, self.counter)

    async def close(self) -> None:
        """Raises `Violated`."""
        checks.check_rebuilt(self.session, self.counter)
        await self.session.close()

    async def _converse(self) -> None:
        session, rng = self.session, self._rng
        self._returned, self._interrupted, self._given_up = [], False, False
        self.model.begin()
        prompt = f"Now link part {self.turn}. " + "Mind the edge. " * rng.randint(0, 40)
        if rng.random() < 0.02:
            prompt += "Part of the log. " * 1_500  # more than half a window
        session.send(prompt)
        await session.idle()
        came = any(item.content == prompt for item in session.items[-100:])
        check(came or any(prompt in text for text in self._returned), "a prompt is lost")

    async def _meanwhile(self) -> None:
        """While a reply streams."""
        chance = self._rng.random()
        if chance < 0.03:
            self._interrupted = True
            self.session.interrupt()
        elif chance < 0.10:
            await self.user.interfere(self.session)

    def _look(self, request: Request) -> None:
        record = self.session._record
        checks.check_request(record.window, request)
        reading = self.session.reading()
        if self.session.auto != "off" and not self._given_up:
            check(reading.used <= reading.limit, f"a request of {reading.used} tokens is sent")

    def _hear(self, update: Update) -> None:
        match update:
            case Appended(event=event) if isinstance(event.data, WindowReplaced):
                try:
                    checks.check_replaced(self.session._record.window, event.data)
                except Violated as violated:
                    self._problem = str(violated)
            case Told(text=text):
                self._given_up = self._given_up or text.startswith("Not compacted")
                if "pinfold failed" in text:
                    self._problem = text
            case PromptReturned(text=text):
                self._returned.append(text)

    async def _check_ending(self, *, full_disk: bool) -> None:
        check(not self._problem, self._problem)
        session, state = self.session, self.session._record.state
        if full_disk and (state.turn_open or self._returned):
            self.tally["cut short by a full disk"] += 1
            return
        self.tally[session.last_ending] += 1
        excused = full_disk or self.model.fatal or session.auto == "off"
        match session.last_ending:
            case "interrupted":
                check(self._interrupted, "a turn was interrupted by nobody")
            case "failed":
                check(excused or self._given_up, f"a turn failed: {state.turn_reason}")
                await self.user.heed(session)
            case ending:
                check(ending == "done", f"a turn ended as {ending!r}")

    async def _resume(self) -> None:
        """Close the session and open it again. Raises `Violated`."""
        self.tally["resumed"] += 1
        before, model = self.session._record._projections, self.session.model
        await self.session.close()
        folder = self.session.folder
        await self._open(Journal.open(folder, self._clock.now), model)
        checks.check_same(before, self.session._record._projections, model, "resumed")

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
