"""Memories in a temporary home: records in the database, and runs of phase 2 over them."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from fakes.provider import FakeClock, ScriptedProvider, Step, calls, says
from pinfold.agent.requests.connection import Connection
from pinfold.memories.consolidate import ConsolidationOutcome, consolidate
from pinfold.memories.places import MEMORY, SUMMARY, MemoryPlaces
from pinfold.memories.records import Extracted, SessionCandidate
from pinfold.memories.state import MemoriesState
from pinfold.ports.provider import Delta, ModelInfo, Request
from pinfold.settings import MemorySettings

MODEL = ModelInfo("strong-1", "scripted", 64_000, "config")
DAY = 86_400.0


def session(number: int) -> str:
    """The id of a made-up session."""
    return str(UUID(int=(0x0198C1D2 << 96) + (0x7 << 76) + (0x8 << 60) + number))


def line(number: int, item: int, text: str, kind: str = "fact", quote: str = "") -> str:
    """A statement on a line."""
    quoted = f" {json.dumps(quote)}" if quote else ""
    return f"- {kind}: {text} [{session(number)}#{item}]{quoted}"


def writes(**texts: str) -> list[list[Step]]:
    """An agent that writes files, and says so; `MEMORY_md="..."`."""
    made = [
        (f"w{n}", "write_file", json.dumps({"path": path, "content": text}))
        for n, (path, text) in enumerate(texts.items())
    ]
    return [calls(*made), says("Done.")]


def agent_writing(memory: str, summary: str = "", **others: str) -> list[list[Step]]:
    return writes(**{MEMORY: memory, SUMMARY: summary or memory, **others})


class Agent(ScriptedProvider):
    """A scripted provider that tells when it is first asked."""

    def __init__(self, script: list[list[Step]]) -> None:
        super().__init__(script)
        self.asked = asyncio.Event()

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        self.asked.set()
        return super().stream(request)


@dataclass
class Memories:
    """A home with memories."""

    home: Path
    clock: FakeClock = field(default_factory=FakeClock)

    def __post_init__(self) -> None:
        self.places = MemoryPlaces.of(self.home)
        self.state = MemoriesState(self.home, self.clock.now)
        self.provider = Agent([])

    def remember(
        self, number: int, *lines: str, cwd: str = "/home/me/app", days: float = 1, slug: str = ""
    ) -> None:
        """Have phase 1 find these lines in a session."""
        updated = self.clock.now().timestamp() - days * DAY
        found = SessionCandidate(session(number), f"/sessions/{number}/rollout.jsonl", cwd, updated)
        (claim,) = self.state.claim_sessions([found], 1)
        made = Extracted("".join(f"{text}\n" for text in lines), f"Session {number}.", slug)
        assert self.state.finish_extracted(claim, found, made)

    async def run(
        self,
        script: list[list[Step]] | None = None,
        *,
        model: ModelInfo = MODEL,
        connect: Callable[[], Awaitable[Connection]] | None = None,
        force: bool = False,
        review: bool = False,
    ) -> ConsolidationOutcome:
        """Consolidate: by a model with this script, by `connect`, or else by rules."""
        if script is not None:
            connect = self._scripted(script, model)
        settings = MemorySettings(review=review)
        async with asyncio.timeout(60):
            return await consolidate(
                self.places, self.state, self.clock, settings, connect, force=force
            )

    def begin(self, script: list[list[Step]]) -> "asyncio.Task[ConsolidationOutcome]":
        """A run by a model, under way."""
        return asyncio.create_task(self.run(connect=self._scripted(script, MODEL)))

    def _scripted(
        self, script: list[list[Step]], model: ModelInfo
    ) -> Callable[[], Awaitable[Connection]]:
        self.provider = Agent(script)

        async def connect() -> Connection:
            return Connection(self.provider, model, "chat", "scripted")

        return connect

    async def asked(self) -> None:
        """Wait until the model of a run has been asked."""
        async with asyncio.timeout(30):
            await self.provider.asked.wait()

    def text(self, name: str = MEMORY) -> str:
        return (self.places.files / name).read_text()
