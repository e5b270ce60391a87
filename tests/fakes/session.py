"""A scripted session, a host and an app on both: what screens and commands are tested on."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from pinfold.agent.updates import Appended, Phase, PhaseChanged, QueueChanged, Update
from pinfold.ports import Approver, Decision, ModelInfo, ProviderError, Question
from pinfold.rollout.events import Data, Event, ItemAdded
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter
from pinfold.tokens.stream import StreamCount
from pinfold.window.reading import Reading

MODEL = ModelInfo("gpt-5.2", "openai", 272_000, "table")
EMBEDDED = ModelInfo("SmolLM2-135M-Instruct", "embedded", 8_192, "server", tools=False)
READING = Reading(
    used=3_100,
    source="estimated",
    limit=8_192,
    segments=(("instructions", 900), ("user", 300), ("assistant", 700), ("tool results", 1_200)),
)


@dataclass
class FakeSession:
    """Does nothing by itself: tests say what it tells, and read what it was told to do."""

    id: str = "0197f3a2-7c10-7d2e-9b1e-0123456789ab"
    folder: Path = Path("sessions")
    cwd: Path = field(default_factory=Path.cwd)
    notices: tuple[str, ...] = ()
    items: Sequence[Item] = ()
    model: ModelInfo = MODEL
    choice_note: str = "OPENAI_API_KEY is set."
    phase: Phase = "idle"
    approvals: str = "ask"
    queue: tuple[tuple[int, str], ...] = ()
    gauge: Reading = READING
    saved_draft: str = ""
    approver: Approver | None = None

    sent: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    interrupts: int = 0
    closed: bool = False
    questions: "list[asyncio.Task[Decision]]" = field(default_factory=list)
    _listeners: list[Callable[[Update], None]] = field(default_factory=list)

    def reading(self) -> Reading:
        return msgspec.structs.replace(self.gauge, limit=self.model.context_window)

    def stream_count(self) -> StreamCount:
        return StreamCount(Counter("none"))

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
        self.tell(Appended(Event(1, datetime(2026, 1, 1, tzinfo=UTC), data)))

    def ask(self, question: Question) -> "asyncio.Task[Decision]":
        """Ask the user."""
        assert self.approver is not None
        self.enter("approval")
        self.questions.append(asyncio.ensure_future(self.approver(question)))
        return self.questions[-1]

    def send(self, text: str) -> None:
        if self.phase == "idle":
            self.sent.append(text)
            self.append(Item(n=len(self.items) + 1, kind="user", content=text))
        else:
            self.queue = (*self.queue, (len(self.queue) + 1, text))
            self.tell(QueueChanged(self.queue))

    def run_command(self, command: str) -> None:
        self.commands.append(command)

    def interrupt(self) -> None:
        self.interrupts += 1

    def unqueue(self, queue_id: int) -> str:
        text = dict(self.queue)[queue_id]
        self.queue = tuple(each for each in self.queue if each[0] != queue_id)
        self.tell(QueueChanged(self.queue))
        return text

    async def set_model(self, name: str) -> None:
        if name == "nonsense":
            raise ProviderError("openai has no model named nonsense.")
        self.model = msgspec.structs.replace(self.model, name=name)

    def set_approvals(self, mode: str) -> None:
        self.approvals = mode

    def draft(self) -> str:
        return self.saved_draft

    def save_draft(self, text: str) -> None:
        self.saved_draft = text

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
    updated_at: datetime = USED
    note: str = ""


@dataclass
class FakeHost:
    """Opens fake sessions."""

    lines: Sequence[Line] = ()
    opened: list[str] = field(default_factory=list)
    trouble: Exception | None = None
    trusted: bool = False

    def _open(self, what: str, approver: Approver) -> FakeSession:
        if self.trouble is not None:
            raise self.trouble
        self.opened.append(what)
        return FakeSession(id=f"0197f3a2-{what.replace(' ', '-')}", approver=approver)

    async def new(self, approver: Approver) -> FakeSession:
        return self._open("new", approver)

    async def resume(self, session_id: str, approver: Approver) -> FakeSession:
        return self._open(f"resume {session_id}", approver)

    async def fork(self, session: object, at: int | None, approver: Approver) -> FakeSession:
        return self._open(f"fork {at}", approver)

    def sessions(self) -> Sequence[Line]:
        return self.lines

    def doctor(self) -> str:
        return "python  3.11\nmodel   gpt-5.2 (OPENAI_API_KEY is set)"

    def trust(self) -> str:
        self.trusted = True
        return "This folder is trusted from the next start on."
