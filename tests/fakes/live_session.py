"""A session on a scripted provider: tests say what its agent does, and see what it was asked."""

import asyncio
import atexit
import dataclasses
import tempfile
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from fakes.provider import FakeClock, ScriptedProvider
from fakes.quick_shell import quick_tools
from pinfold.agent.builder import build
from pinfold.agent.children.definition import Agents
from pinfold.agent.compaction.automatic import Reviewer
from pinfold.agent.compaction.compacting import Compacting
from pinfold.agent.compaction.draft import CompactionDraft
from pinfold.agent.options import Options
from pinfold.agent.parts import Parts
from pinfold.agent.record import Record
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.agent.session import Session
from pinfold.agent.turn.ending import Ending
from pinfold.agent.updates import Appended, Phase, Update
from pinfold.compaction.view import PlanOptions
from pinfold.ports.approver import Approver, Decision, Question
from pinfold.ports.errors import ProviderError, RequestRejected
from pinfold.ports.provider import (
    Delta,
    ModelInfo,
    PartDone,
    Request,
    ResponseDone,
    TextDelta,
)
from pinfold.rollout import drafts, provenance
from pinfold.rollout.events import SCHEMA, Data, ItemAdded, SessionStarted
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal, JournalError
from pinfold.rollout.values import Usage
from pinfold.settings import Auto
from pinfold.tokens.counter import Counter
from pinfold.window.reading import GaugeReading

MODEL = ModelInfo("gpt-5.2", "openai", 272_000, "table")
EMBEDDED = ModelInfo("SmolLM2-135M-Instruct", "embedded", 8_192, "server", tools=False)
READING = GaugeReading(
    used=3_100,
    source="estimated",
    limit=8_192,
    segments=(("instructions", 900), ("user", 300), ("assistant", 700), ("tool results", 1_200)),
)

_ROOTS = tempfile.TemporaryDirectory(prefix="live-")
atexit.register(_ROOTS.cleanup)


class Writer(ScriptedProvider):
    """Writes summaries as the session's `compaction` says."""

    compaction: "Watched"

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        if request.schema is None and not request.text_only:
            async for delta in super().stream(request):
                yield delta
            return
        self.requests.append(request)
        if not self.compaction.writing.is_set():
            for _ in range(50):
                yield TextDelta("word ")
            await self.compaction.writing.wait()
        answers = self.compaction.answers
        answer = answers.pop(0) if answers else self.compaction.summary
        if isinstance(answer, Exception) or not answer:
            raise answer or RequestRejected("The model is down.")
        yield PartDone("assistant", answer)
        yield ResponseDone(self.compaction.spent, "stop")


class Watched(Compacting):
    """The session's own; it remembers what was asked of it, and waits where a test says so."""

    drafted: list[tuple[str, PlanOptions]]
    applied: list[CompactionDraft]
    asked: list[str]
    """Strategies for which a model wrote."""
    summary = ""
    """What the model writes; without it, it fails."""
    answers: list[str | Exception]
    """What it writes first."""
    writing: asyncio.Event
    """Set, unless the model at work is to be seen."""
    spent = Usage(input=900, output=90)
    gate: asyncio.Event | None = None
    """Drafts and applications wait for it, as for a slow disk."""
    full_disk: bool = False

    async def draft(  # type: ignore[override]
        self, strategy: str | None = None, options: PlanOptions | None = None, **more: Any
    ) -> CompactionDraft:
        name = strategy or self.strategy
        self.drafted.append((name, options or self.options))
        if self.gate is not None:
            await self.gate.wait()
        if more.get("material") is None and self.asks_model(name):
            self.asked.append(name)
        return await super().draft(strategy, options, **more)

    async def apply(self, draft: CompactionDraft) -> None:
        if self.gate is not None:
            await self.gate.wait()
        if self.full_disk:
            raise JournalError("The disk is full.")
        await super().apply(draft)
        self.applied.append(draft)


class LiveSession(Session):
    """A session on a scripted provider; tests say what its agent does, and see what it was told."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.approver: Approver | None = None
        self.provider: ScriptedProvider
        self.interrupts = 0
        self.closed = False
        self.sent: list[str] = []
        self.pasted: list[list[str]] = []
        """What of each prompt that was sent or queued the user had not typed."""
        self.commands: list[str] = []
        self.questions: list[asyncio.Task[Decision]] = []
        self.compaction.__class__ = Watched
        self.compaction.drafted, self.compaction.applied, self.compaction.asked = [], [], []
        self.compaction.answers, self.compaction.writing = [], asyncio.Event()
        self.compaction.writing.set()
        self._phase_ends: asyncio.Event | None = None

    @property
    def model(self) -> ModelInfo:
        return self._parts.choice.model

    @model.setter
    def model(self, model: ModelInfo) -> None:
        choice = self._parts.choice
        choice.connection = dataclasses.replace(choice.connection, model=model)

    @property
    def gauge(self) -> GaugeReading:
        return self.reading()

    @gauge.setter
    def gauge(self, gauge: GaugeReading) -> None:
        self.reading = lambda: msgspec.structs.replace(gauge, limit=self.model.context_window)

    @property
    def record(self) -> Record:
        return self._record

    @property
    def journalled(self) -> list[Data]:
        return [event.data for event in self._record.journal.read()]

    @property
    def reviewer(self) -> Reviewer | None:
        return self._parts.auto_compaction.reviewer

    def tell(self, update: Update) -> None:
        """Tell the screen."""
        self._record.tell(update)

    def enter(self, phase: Phase) -> None:
        """Be busy with that, until it is `idle` again."""
        if self._phase_ends is None and phase != "idle":
            self._phase_ends = asyncio.Event()
            waiting = self._parts.work.wait_for(self._phase_ends.wait, phase)
            self._waiting = asyncio.ensure_future(waiting)
        elif phase == "idle" and self._phase_ends is not None:
            self._phase_ends.set()
            self._phase_ends = None
        self._record.enter(phase)

    def append(self, data: Data | Item) -> None:
        """Journal an event; an item joins the window."""
        record = self._record
        for event in record._commit((ItemAdded(item=data) if isinstance(data, Item) else data,)):
            record._projections.step(event)
            with suppress(RuntimeError):  # no loop runs yet: nobody listens
                asyncio.get_running_loop()
                record.tell(Appended(event))

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
        expands: bool = False,
    ) -> "asyncio.Future[Ending]":
        self.pasted.append(provenance.slices(text, pasted))
        if not self.busy:
            self.sent.append(text)
        return super().send(text, pasted, steers=steers, ours=ours, expands=expands)

    def run_command(self, command: str) -> None:
        self.commands.append(command)
        super().run_command(command)

    def interrupt(self) -> None:
        self.interrupts += 1
        super().interrupt()

    async def close(self) -> None:
        await super().close()
        self.closed = True


ID = "0197f3a2-7c10-7d2e-9b1e-0123456789ab"


def live_session(
    *,
    id: str = ID,  # noqa: A002
    root: Path | None = None,
    items: Sequence[Item] = (),
    model: ModelInfo = MODEL,
    choice_note: str = "OPENAI_API_KEY is set.",
    draft: drafts.Draft | None = None,
    options: Options | None = None,
    auto: Auto = "auto",
    cwd: Path | None = None,
    approver: Approver | None = None,
    gauge: GaugeReading | None = READING,
    notices: tuple[str, ...] = (),
    left_at: str = "",
    agents: Agents | None = None,
) -> LiveSession:
    """A new session of these items; its journal lies in `root`, or in a folder of its own.

    With `gauge`, the gauge says that, not what the window holds.
    """
    root = root or Path(tempfile.mkdtemp(dir=_ROOTS.name))
    minutes = count(-2 if items else -3)

    def now() -> datetime:
        return datetime(2026, 1, 1, 12, max(0, next(minutes)) % 60, tzinfo=UTC)

    work = cwd or root
    started = SessionStarted(schema=SCHEMA, id=id, cwd=str(work), version="0")
    journal = Journal.create(root / "sessions" / id, started, now)
    if items:
        for item in items:
            journal.append(ItemAdded(item=item))
    if draft is not None:
        drafts.save(journal.folder, draft.text, draft.pasted)
    provider = Writer((), name=model.provider)
    made: list[LiveSession] = []

    async def ask(question: Question) -> Decision:
        assert made[0].approver is not None
        return await made[0].approver(question)

    async def connect(name: str) -> Connection:
        if name == "nonsense":
            raise ProviderError(f"{model.provider} has no model named nonsense.")
        return Connection(provider, msgspec.structs.replace(model, name=name), "chat", choice_note)

    async def built() -> LiveSession:
        session = await build(
            journal,
            work,
            Connection(provider, model, "chat", choice_note),
            quick_tools(),
            ask,
            FakeClock(datetime(2026, 1, 1, 12, tzinfo=UTC)),
            options or Options(auto=auto),
            counter=Counter("none"),
            user_folder=root / "config",
            connect=connect,
            learned_windows=LearnedWindows(root),
            agents=agents,
        )
        session._parts.found, session._parts.left_at = notices, left_at
        return LiveSession(session._parts)

    with ThreadPoolExecutor(1) as thread:  # the test's own loop may run, or none
        made.append(thread.submit(lambda: asyncio.run(built())).result())
    made[0].approver, made[0].provider = approver, provider
    provider.compaction = made[0].compaction
    if gauge is not None:
        made[0].gauge = gauge
    return made[0]
