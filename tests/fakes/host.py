"""A host that opens scripted sessions: what screens and commands are tested on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from fakes.live_session import LiveSession, live_session
from pinfold.catalog.catalog import LastExchange
from pinfold.catalog.searching import MATCH, MATCH_END
from pinfold.compaction.view import PlanOptions
from pinfold.ports.approver import Approver

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

    said: Mapping[str, LastExchange] = field(default_factory=dict)
    filled: int = 0


@dataclass
class FakeCatalog:
    """An index of sessions."""

    lines: Sequence[Line]
    texts: FakeTexts

    def list(self, limit: int, cwd: str | None = None) -> Sequence[Line]:
        return [line for line in self.lines if cwd in (None, line.cwd)][:limit]

    def count(self) -> int:
        return len(self.lines)

    def sessions(self, ids: Sequence[str]) -> Sequence[Line]:
        return [line for line in self.lines if line.id in ids]

    def fill(self) -> Iterator[int]:
        self.texts.filled = len(self.lines)
        return iter(())

    def search_sessions(self, query: str, limit: int, now: datetime) -> Mapping[str, str]:
        found = {
            key: one.reply.replace(query, f"{MATCH}{query}{MATCH_END}")
            for key, one in self.texts.said.items()
            if query in one.reply
        }
        return dict(list(found.items())[:limit])

    def exchange(self, session: str) -> LastExchange | None:
        return self.texts.said.get(session)


@dataclass
class FakeHost:
    """Opens sessions whose agent is scripted; remembers which."""

    warnings: Sequence[str] = ()
    lines: Sequence[Line] = ()
    texts: FakeTexts = field(default_factory=FakeTexts)
    foreign: Sequence[Foreign] = ()
    adopted: list[Path] = field(default_factory=list)
    its_folder: list[bool] = field(default_factory=list)
    """Of each that was adopted, whether it works in the folder that it names."""
    opened: list[str] = field(default_factory=list)
    made: list[LiveSession] = field(default_factory=list)
    trouble: Exception | None = None
    trusted: bool = False
    memories: Any = None
    """A `fakes.memories.FakeMemories`, where they are asked for."""
    saved: list[tuple[str, PlanOptions]] = field(default_factory=list)
    """Defaults of compaction."""

    @property
    def catalog(self) -> FakeCatalog:
        return FakeCatalog(self.lines, self.texts)

    def _open(self, what: str, approver: Approver) -> LiveSession:
        if self.trouble is not None:
            raise self.trouble
        self.opened.append(what)
        made = live_session(id=f"0197f3a2-{what.replace(' ', '-')}", approver=approver)
        self.made.append(made)
        return made

    async def new(self, approver: Approver) -> LiveSession:
        return self._open("new", approver)

    async def resume(self, session_id: str, approver: Approver) -> LiveSession:
        return self._open(f"resume {session_id}", approver)

    async def fork(self, session: object, at: int | None, approver: Approver) -> LiveSession:
        return self._open(f"fork {at}", approver)

    async def hand_on(
        self, session: object, strategy: str | None, model: str | None, approver: Approver
    ) -> LiveSession:
        return self._open(f"handed on {strategy} {model}", approver)

    async def fork_window(
        self, session: object, generation: int, approver: Approver
    ) -> LiveSession:
        return self._open(f"fork window {generation}", approver)

    async def rewind(self, session: object, prompt: int, approver: Approver) -> LiveSession:
        return self._open(f"rewind {prompt}", approver)

    async def close(self, session: LiveSession) -> None:
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
