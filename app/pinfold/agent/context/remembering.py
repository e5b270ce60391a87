"""Memories in a session: which it is told, and which it used."""

import asyncio
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from pinfold.agent.record import Record
from pinfold.ports.memories import CutReply, MemoryFailure, MemoryPort
from pinfold.ports.provider import Delta, ModelInfo, TextDelta
from pinfold.ports.tool import Observation
from pinfold.rollout.context import FrontMemories
from pinfold.rollout.events import MemoryUsed
from pinfold.window.reading import reserve

BLOCK = "memory_citations"
"""In the detail of a reply: the block that closed it."""
MOST = 5_000
"""Tokens of memories that a session is told."""
SHARE = 0.05
"""Of the usable window, that they may take."""


class Remembering:
    """Does nothing without a port, or for a model without tools."""

    def __init__(self, record: Record, port: MemoryPort | None) -> None:
        self._record = record
        self._port = port
        self._streamed = ""
        """The reply under way from the beginning of its last line on, or from that of its block."""
        self._shown = 0
        """Characters of that which were passed on."""

    @property
    def readable(self) -> list[Path]:
        """Folders in which tools may read without asking."""
        return [self._port.folder.resolve()] if self._port is not None else []

    async def front(self, cwd: Path, model: ModelInfo) -> FrontMemories | None:
        """The memories for the front: decided once, before the first request."""
        decided = self._record.state.memories
        if decided is not None or self._port is None or not model.tools:
            return decided
        usable = model.context_window - reserve(model.context_window, model.max_output)
        most = min(MOST, int(SHARE * usable))
        count = self._record.gauge.counter.count
        try:
            told = FrontMemories(await asyncio.to_thread(self._port.front, cwd, most, count))
        except MemoryFailure as failure:
            self._record.warn(str(failure))
            return None
        if notice := self._port.notice():
            self._record.warn(notice)
        return told

    # Citations

    @property
    def _citable(self) -> MemoryPort | None:
        """The port, where the model was told of memories and may cite them."""
        context = self._record.state.context.context
        return self._port if context.memories is not None and context.memories.text else None

    def begin(self) -> None:
        """A response begins to stream."""
        self._streamed, self._shown = "", 0

    def passed(self, delta: Delta) -> Delta:
        """A piece of a response without what belongs to its citations."""
        port = self._citable
        if port is None or not isinstance(delta, TextDelta):
            return delta
        self._streamed += delta.text
        shown = max(self._shown, port.shown(self._streamed))
        piece = self._streamed[self._shown : shown]
        line = self._streamed.rfind("\n", 0, shown) + 1
        self._streamed, self._shown = self._streamed[line:], shown - line
        return TextDelta(piece)

    def cut(self, reply: str) -> CutReply | None:
        return self._citable.cut(reply) if self._citable is not None else None

    async def used(self, cut: CutReply) -> MemoryUsed | None:
        """The event of a reply's citations, its item still to be named; None where none holds."""
        if self._port is None:
            return None
        try:
            used = await asyncio.to_thread(self._port.cited, cut)
        except MemoryFailure as failure:
            self._record.warn(str(failure))
            return None
        return used if used.cited or used.sessions else None

    async def count(self, used: MemoryUsed, at: datetime) -> None:
        """Count what was journalled."""
        if self._port is None or not used.sessions:
            return
        try:
            await asyncio.to_thread(self._port.count_use, used.sessions, at)
        except MemoryFailure as failure:
            self._record.warn(str(failure))

    # Reads

    def read(self, seen: Iterable[Observation], workspace: Path) -> MemoryUsed | None:
        """The event of the memory files that a tool read, its item still to be named."""
        if self._port is None:
            return None
        paths = [
            workspace / observation.uri
            for observation in seen
            if (observation.kind, observation.op) == ("file", "read")
        ]
        found = dict.fromkeys(kind for path in paths if (kind := self._port.kind(path)))
        return MemoryUsed(item=0, via="read", read=tuple(found)) if found else None
