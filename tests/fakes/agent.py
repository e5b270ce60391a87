"""A whole session on a scripted provider: only the model, the user and the clock are fakes."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from fakes.provider import FakeClock, ScriptedProvider, Step
from fakes.quick_shell import quick_tools
from pinfold.agent.builder import build
from pinfold.agent.options import Options
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.agent.session import Session
from pinfold.agent.updates import Told, Update
from pinfold.ports.approver import Decision, Question
from pinfold.ports.provider import ModelInfo, Request
from pinfold.ports.tool import Tool
from pinfold.rollout.events import Data
from pinfold.rollout.items import Item, Kind
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore
from pinfold.tokens.counter import Counter

D = TypeVar("D", bound=Data)
MODEL = ModelInfo("scripted-1", "scripted", 8_192, "config")


@dataclass
class User:
    """An approver that answers from a list, and remembers what it was asked."""

    answers: list[Decision] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)
    meanwhile: Callable[[], object] = lambda: None
    """What happens while a question stands."""

    async def __call__(self, question: Question) -> Decision:
        self.asked.append(question)
        self.meanwhile()
        return self.answers.pop(0)


@dataclass
class Stage:
    """A session and what stands around it."""

    session: Session
    provider: ScriptedProvider
    user: User
    clock: FakeClock
    heard: list[Update]
    root: Path

    async def say(self, *prompts: str) -> list[Request]:
        """Send each once the session is idle; all requests so far."""
        for prompt in prompts:
            self.session.send(prompt)
            await self.session.idle()
        return self.provider.requests

    def told(self) -> list[str]:
        return [update.text for update in self.heard if isinstance(update, Told)]

    @property
    def ended(self) -> str:
        """How the last turn ended: `done`, `waiting`, `interrupted`, `failed`, or nothing yet."""
        return self.session._record.state.turn_state

    def kinds(self) -> list[str]:
        return [item.kind for item in self.session.items]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for what an update brings about."""
        heard = asyncio.Event()
        stop = self.session.subscribe(lambda _: heard.set())
        async with asyncio.timeout(30):
            while not condition():
                await heard.wait()
                heard.clear()
        stop()

    def events(self) -> list[Data]:
        with Journal.open(self.session.folder, self.clock.now, read_only=True) as journal:
            return [event.data for event in journal.read()]

    def events_of(self, kind: type[D]) -> list[D]:
        return [event for event in self.events() if isinstance(event, kind)]

    def items(self, kind: Kind) -> list[Item]:
        return [item for item in self.session.items if item.kind == kind]

    def texts(self, kind: Kind) -> list[str]:
        return [item.content for item in self.items(kind)]

    async def again(
        self,
        script: Iterable[list[Step]] = (),
        *answers: Decision,
        read_only: bool = False,
        **more: Any,
    ) -> "Stage":
        """Close the session if it is open, and open it again; `more` is as in `stage`."""
        await self.session.close()
        return await stage(
            self.root,
            script,
            *answers,
            journal=lambda: Journal.open(self.session.folder, self.clock.now, read_only=read_only),
            **more,
        )


async def stage(
    root: Path,
    script: Iterable[list[Step]],
    *answers: Decision,
    options: Options | None = None,
    journal: Callable[[], Journal] | None = None,
    model: ModelInfo = MODEL,
    others: Iterable[ModelInfo] = (),
    provider: ScriptedProvider | None = None,
    writer: ScriptedProvider | None = None,
    with_tools: Sequence[Tool] | None = None,
) -> Stage:
    """A session in `root/work`, its store in `root/home`; it can go on with the other models.

    `writer` is another model that compacts.
    """
    clock, user = FakeClock(), User(list(answers))
    provider = provider or ScriptedProvider(script)
    work, home = root / "work", root / "home"
    work.mkdir(exist_ok=True)
    opened = journal() if journal else SessionStore(home).create(work.resolve(), "test", clock.now)
    connection = Connection(provider, model, "chat", "scripted")

    async def connect(name: str) -> Connection:
        found = next((other for other in others if other.name == name), model)
        return Connection(provider, found, "chat", "scripted")

    async def connect_writer() -> Connection:
        assert writer is not None
        other = ModelInfo("writer-1", writer.name, 128_000, "config", 8_000)
        return Connection(writer, other, "chat", "scripted")

    session = await build(
        opened,
        work.resolve(),
        connection,
        quick_tools() if with_tools is None else with_tools,
        user,
        clock,
        options or Options(),
        counter=Counter("none"),
        user_folder=root / "config",
        connect=connect,
        connect_summarizer=connect_writer if writer else None,
        learned_windows=LearnedWindows(home),
    )
    heard: list[Update] = []
    session.subscribe(heard.append)
    return Stage(session, provider, user, clock, heard, root)
