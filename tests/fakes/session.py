"""A scripted session, a host and an app on both: what screens and commands are tested on."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import msgspec

from fakes.compacting import FakeCompacting
from pinfold.agent.compaction.automatic import Reviewer
from pinfold.agent.compaction.draft import Draft
from pinfold.agent.compaction.trigger import CompactionTrigger
from pinfold.agent.files import Meanwhile
from pinfold.agent.projections import Projections
from pinfold.agent.steering.steering import Steering
from pinfold.agent.turn.ending import Ending
from pinfold.agent.turn.large_prompts import LargePrompts
from pinfold.agent.updates import (
    Appended,
    Phase,
    PhaseChanged,
    Preparation,
    Prepared,
    QueueChanged,
    Update,
    WaitingPrompt,
)
from pinfold.checkpoint.known import Known
from pinfold.compaction.view import PlanOptions
from pinfold.ports.approver import Approver, Decision, Question
from pinfold.ports.errors import ProviderError
from pinfold.ports.provider import ModelInfo
from pinfold.rollout import drafts, provenance
from pinfold.rollout.acts import Step
from pinfold.rollout.events import Data, Event, ItemAdded, MemoryUsed
from pinfold.rollout.items import Item
from pinfold.rollout.texts import MATCH, MATCH_END, Exchange
from pinfold.tokens.counter import Counter
from pinfold.tokens.stream import StreamCount
from pinfold.tools.jobs import Job, Jobs
from pinfold.tools.restore import Undo
from pinfold.window.reading import Reading
from pinfold.window.refused import Refused

Answer = TypeVar("Answer")
MODEL = ModelInfo("gpt-5.2", "openai", 272_000, "table")
EMBEDDED = ModelInfo("SmolLM2-135M-Instruct", "embedded", 8_192, "server", tools=False)
READING = Reading(
    used=3_100,
    source="estimated",
    limit=8_192,
    segments=(("instructions", 900), ("user", 300), ("assistant", 700), ("tool results", 1_200)),
)


class MemoryRecord:
    """A record whose journal is a list: what `Steering` needs."""

    def __init__(self, tell: Callable[[Update], None]) -> None:
        self.events: list[Event] = []
        self.projections = Projections(Counter("none"), "chat")
        self.state = self.projections.state
        self.window = self.projections.window
        self.gauge = self.projections.gauge
        self.journal = SimpleNamespace(read_only=False)
        self._tell = tell

    async def append(self, *data: Data) -> None:
        for event in data:
            self.take(event)

    async def known(self) -> Known:
        return self.projections.catch_up()

    async def add(self, make: Callable[[int], Sequence[Data]]) -> None:
        await self.append(*make(self.state.last_n + 1))

    def take(self, data: Data) -> None:
        at = datetime(2026, 1, 1, 12, len(self.events) % 60, tzinfo=UTC)
        event = Event(len(self.events) + 1, at, data)
        self.events.append(event)
        self.projections.step(event)
        self._tell(Appended(event))


async def ended(job: Job) -> None:
    """Nobody is told."""


@dataclass
class FakeFiles:
    """Files that changed while the session was closed, and what was undone."""

    since: Meanwhile = field(default_factory=Meanwhile)
    undone: list[Undo] = field(default_factory=list)

    async def undo(self, undos: Sequence[Undo]) -> str:
        self.undone += undos
        return "Undone: " + ", ".join(state.change.uri for state in undos) + "."

    async def meanwhile(self) -> Meanwhile:
        return self.since


@dataclass
class FakePreparing:
    """What `/prepare` switches."""

    tell: Callable[[Update], None]
    wanted: bool = True
    state: Preparation = ""

    def enter(self, state: Preparation) -> None:
        self.state = state
        self.tell(Prepared(state))

    def switch(self, *, on: bool) -> None:
        self.wanted = on
        if not on and self.state == "preparing":
            self.enter("")


@dataclass
class FakeSession:
    """Does nothing by itself: tests say what it tells, and read what it was told to do."""

    read_only: bool = False
    id: str = "0197f3a2-7c10-7d2e-9b1e-0123456789ab"
    folder: Path = Path("sessions")
    cwd: Path = field(default_factory=Path.cwd)
    notices: tuple[str, ...] = ()
    left_at: str = ""
    cold_said: str = ""
    items: Sequence[Item] = ()
    model: ModelInfo = MODEL
    choice: Any = field(
        default_factory=lambda: SimpleNamespace(price=None, effort=None, efforts=())
    )
    choice_note: str = "OPENAI_API_KEY is set."
    phase: Phase = "idle"
    approvals: str = "ask"
    edits_allowed: bool = False
    unconfined: str = ""
    queue: tuple[WaitingPrompt, ...] = ()
    gauge: Reading | None = READING
    """None: what the window really holds."""
    counted: Reading | None = None
    """What it becomes once the front is counted."""
    auto: str = "auto"
    threshold: float = 0.85
    compacts_next: bool = True
    saved_draft: drafts.Draft = field(default_factory=drafts.Draft)
    approver: Approver | None = None
    jobs: Jobs = field(default_factory=lambda: Jobs(0, ended))
    children: Any = field(
        default_factory=lambda: SimpleNamespace(known=(), running=(), status=lambda _: None)
    )

    files: FakeFiles = field(default_factory=FakeFiles)
    sent: list[str] = field(default_factory=list)
    pasted: list[list[str]] = field(default_factory=list)
    """What of each prompt that was sent or queued the user had not typed."""
    commands: list[str] = field(default_factory=list)
    notifications: list[str] = field(default_factory=list)
    reviewer: Reviewer | None = None
    interrupts: int = 0
    closed: bool = False
    questions: "list[asyncio.Task[Decision]]" = field(default_factory=list)
    _listeners: list[Callable[[Update], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.record = MemoryRecord(self.tell)
        for item in self.items:
            self.record.take(ItemAdded(item=item))
        self.window = Steering(
            self.record,  # type: ignore[arg-type]
            lambda: self.model,
            self.reading,
            lambda: self.phase != "idle",
        )
        self.compaction = FakeCompacting(self.record, lambda: self.model, self.tell)
        self.preparing = FakePreparing(self.tell)
        self.record.journal.folder = self.folder
        self.large = LargePrompts(self.record, lambda: self.model, self.reading, lambda: False)  # type: ignore[arg-type]

    async def events(self) -> Sequence[Event]:
        return tuple(self.record.events)

    @property
    def cited(self) -> tuple[str, ...]:
        used = (event.data for event in reversed(self.record.events))
        return next((event.sources for event in used if isinstance(event, MemoryUsed)), ())

    @property
    def counter(self) -> Counter:
        return self.record.gauge.counter

    @property
    def plan(self) -> Sequence[Step]:
        return self.record.state.plan

    def reading(self) -> Reading:
        if self.gauge is None:
            threshold = None if self.auto == "off" else self.threshold
            return self.record.gauge.reading(self.model, threshold)
        return msgspec.structs.replace(self.gauge, limit=self.model.context_window)

    async def cold(self) -> str:
        return self.cold_said

    async def count_front(self) -> None:
        self.gauge = self.counted or self.gauge

    def stream_count(self) -> StreamCount:
        return StreamCount(Counter("none"))

    def notified(self, what: str) -> None:
        self.notifications.append(what)

    def typed(self) -> None:
        """Nothing is warmed."""

    def subscribe(self, listener: Callable[[Update], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self, update: Update) -> None:
        """Tell the screen."""
        for listener in list(self._listeners):
            listener(update)

    def enter(self, phase: Phase) -> None:
        self.phase = phase
        self.tell(PhaseChanged(phase))

    def append(self, data: Data | Item) -> None:
        """An event, as if journalled; an item joins the window."""
        if isinstance(data, Item):
            self.items = (*self.items, data)
            data = ItemAdded(item=data)
        self.record.take(data)

    def ask(self, question: Question) -> "asyncio.Task[Decision]":
        """Ask the user."""
        assert self.approver is not None
        self.enter("approval")
        self.questions.append(asyncio.ensure_future(self.approver(question)))
        return self.questions[-1]

    def send(
        self,
        text: str,
        pasted: Sequence[provenance.Span] = (),
        *,
        steers: bool = True,
        ours: bool = False,
    ) -> "asyncio.Future[Ending]":
        self.pasted.append(provenance.slices(text, pasted))
        if self.phase == "idle":
            self.sent.append(text)
            self.append(Item(n=len(self.items) + 1, kind="user", content=text))
        else:
            self.queue = (*self.queue, WaitingPrompt(len(self.queue) + 1, text, steers))
            self.tell(QueueChanged(self.queue))
        return asyncio.get_running_loop().create_future()

    async def compact(
        self, strategy: str | None = None, options: PlanOptions | None = None
    ) -> Draft | None:
        async def work(trigger: CompactionTrigger) -> Draft:
            draft = await self.compaction.draft(strategy, options, trigger=trigger)
            await self.compaction.apply(draft)
            return draft

        return await self.compacting(work)

    async def compacting(
        self, work: Callable[[CompactionTrigger], Awaitable[Answer]]
    ) -> Answer | None:
        if self.phase != "idle":
            raise Refused("A turn is running: press Esc first, or wait for its end.")
        return await work(CompactionTrigger(waited_for=True))

    def lend(self, terminal: object) -> None:
        pass

    def review_by(self, reviewer: Reviewer) -> None:
        self.reviewer = reviewer

    def run_command(self, command: str) -> None:
        self.commands.append(command)

    def interrupt(self) -> None:
        self.interrupts += 1

    def unqueue(self, queue_id: int) -> str:
        text = next(prompt.text for prompt in self.queue if prompt.id == queue_id)
        self.queue = tuple(pair for pair in self.queue if pair[0] != queue_id)
        self.tell(QueueChanged(self.queue))
        return text

    async def set_model(self, name: str) -> None:
        if name == "nonsense":
            raise ProviderError("openai has no model named nonsense.")
        self.model = msgspec.structs.replace(self.model, name=name)

    async def forget_window(self) -> str:
        if self.model.window_source != "learned":
            raise Refused("The window was not learned.")
        self.model = msgspec.structs.replace(
            self.model, context_window=272_000, window_source="table"
        )
        return "The learned window is forgotten."

    def set_approvals(self, mode: str) -> None:
        self.approvals = mode

    def set_threshold(self, to: str) -> None:
        if to in ("auto", "ask", "off"):
            self.auto = to
        else:
            self.threshold = float(to)

    def draft(self) -> drafts.Draft:
        return self.saved_draft

    def save_draft(self, text: str, pasted: Sequence[str] = ()) -> None:
        self.saved_draft = drafts.Draft(text, tuple(pasted))

    async def idle(self) -> None: ...

    async def close(self) -> None:
        self.closed = True


USED = datetime.fromisoformat("2026-03-01T12:30").astimezone()


@dataclass(frozen=True)
class Line:
    """A session in a list."""

    id: str
    title: str
    cwd: str = "/home/ada/wc"
    model: str = "gpt-5.2"
    turns: int = 3
    tokens: int = 31_000
    updated_at: datetime = USED
    note: str = ""
    held: bool = False

    @property
    def folder(self) -> Path:
        return Path(self.id)


@dataclass(frozen=True)
class Foreign:
    """A session of another tool in a list."""

    file: Path
    title: str
    tool: str = "codex"
    cwd: str = "/home/ada/wc"
    model: str = "gpt-5.5"
    used: int = 188_439
    full: float | None = 0.73
    size: int = 4_124_760
    updated_at: datetime = USED
    note: str = ""


@dataclass
class FakeTexts:
    """What was said in sessions, by id."""

    said: Mapping[str, Exchange] = field(default_factory=dict)
    filled: int = 0

    def fill(self, folders: Sequence[Path]) -> Iterator[int]:
        self.filled = len(folders)
        return iter(())

    def search(self, query: str) -> Mapping[str, str]:
        return {
            key: one.reply.replace(query, f"{MATCH}{query}{MATCH_END}")
            for key, one in self.said.items()
            if query in one.reply
        }

    def exchange(self, folder: Path) -> Exchange | None:
        return self.said.get(folder.name)


@dataclass
class FakeHost:
    """Opens fake sessions."""

    warnings: Sequence[str] = ()
    lines: Sequence[Line] = ()
    texts: FakeTexts = field(default_factory=FakeTexts)
    foreign: Sequence[Foreign] = ()
    adopted: list[Path] = field(default_factory=list)
    its_folder: list[bool] = field(default_factory=list)
    """Of each that was adopted, whether it works in the folder that it names."""
    opened: list[str] = field(default_factory=list)
    made: list[FakeSession] = field(default_factory=list)
    trouble: Exception | None = None
    trusted: bool = False
    memories: Any = None
    """A `fakes.memories.FakeMemories`, where they are asked for."""
    saved: list[tuple[str, PlanOptions]] = field(default_factory=list)
    """Defaults of compaction."""

    def _open(self, what: str, approver: Approver) -> FakeSession:
        if self.trouble is not None:
            raise self.trouble
        self.opened.append(what)
        made = FakeSession(id=f"0197f3a2-{what.replace(' ', '-')}", approver=approver)
        self.made.append(made)
        return made

    async def new(self, approver: Approver) -> FakeSession:
        return self._open("new", approver)

    async def resume(self, session_id: str, approver: Approver) -> FakeSession:
        return self._open(f"resume {session_id}", approver)

    async def fork(self, session: object, at: int | None, approver: Approver) -> FakeSession:
        return self._open(f"fork {at}", approver)

    async def hand_on(
        self, session: object, strategy: str | None, model: str | None, approver: Approver
    ) -> FakeSession:
        return self._open(f"handed on {strategy} {model}", approver)

    async def fork_window(
        self, session: object, generation: int, approver: Approver
    ) -> FakeSession:
        return self._open(f"fork window {generation}", approver)

    async def rewind(self, session: object, prompt: int, approver: Approver) -> FakeSession:
        return self._open(f"rewind {prompt}", approver)

    async def close(self, session: FakeSession) -> None:
        await session.close()

    def sessions(self) -> Sequence[Line]:
        return self.lines

    def adoptable(self) -> Iterator[Foreign]:
        yield from self.foreign

    def adopt(self, file: Path, *, its_folder: bool = False) -> tuple[str, str]:
        self.adopted.append(file)
        self.its_folder.append(its_folder)
        return "0197f3a2-adopted", "Adopted from Codex."

    def save_compact(self, strategy: str, options: PlanOptions) -> str:
        if self.trouble is not None:
            raise self.trouble
        self.saved.append((strategy, options))
        return f"Saved: mode = {strategy}."

    def models(self, *_: object) -> Iterator[object]:
        return iter(())

    def doctor(self) -> str:
        return "python  3.11\nmodel   gpt-5.2 (OPENAI_API_KEY is set)"

    def trust(self) -> str:
        self.trusted = True
        return "This folder is trusted from the next start on."
