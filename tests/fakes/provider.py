"""A scripted provider and a clock that stands still until told."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from datetime import UTC, datetime, timedelta

from pinfold.ports.errors import ProviderError, RequestRejected
from pinfold.ports.provider import (
    CallDelta,
    Compacted,
    Delta,
    PartDone,
    ReasoningDelta,
    Request,
    ResponseDone,
    TextDelta,
)
from pinfold.rollout.values import Usage
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import context_parts, count_item

Step = Delta | Exception | asyncio.Event
"""A delta to give, an error to raise, or a gate to wait at."""


COUNTED = Usage(input=-1)
"""Stands for what a server would count for the request."""


def says(text: str, *, usage: Usage | None = None) -> list[Step]:
    """A response of text alone, word by word; a long one in about a hundred pieces."""
    words = [word + " " for word in text.split(" ")]
    words[-1] = words[-1].removesuffix(" ")
    size = max(1, len(words) // 100)
    pieces = ("".join(words[at : at + size]) for at in range(0, len(words), size))
    deltas: list[Step] = [TextDelta(piece) for piece in pieces]
    return [*deltas, PartDone("assistant", text), ResponseDone(usage or COUNTED, "stop")]


def thinks(text: str) -> list[Step]:
    """Reasoning, to stand before the rest of a response."""
    return [ReasoningDelta(text), PartDone("reasoning", text)]


def calls(*made: tuple[str, str, str], text: str = "") -> list[Step]:
    """A response that calls tools: (call_id, name, arguments) each."""
    steps: list[Step] = [TextDelta(text), PartDone("assistant", text)] if text else []
    for index, (call_id, name, arguments) in enumerate(made):
        steps.append(CallDelta(index, name, arguments))
        steps.append(PartDone("tool_call", arguments, call_id, name))
    return [*steps, ResponseDone(COUNTED, "tool_calls")]


class ScriptedProvider:
    """A `ports.Provider`; each request takes the next response of the script."""

    def __init__(self, script: Iterable[list[Step]], name: str = "scripted") -> None:
        self.name = name
        self.script = list(script)
        self.summaries: list[list[Step]] = []
        """Responses to requests for a summary; where there are none, they take the script's."""
        self.requests: list[Request] = []
        self.closed = False
        self.cut_off = 0
        """Streams that were closed before their end."""
        self.counts: list[int | None] = []
        """What the next questions for a count get; then it can't count."""
        self.compactions: list[Compacted | ProviderError] = []
        """What the next calls of `compact` get; then it has no endpoint for that."""
        self.compacted: list[Request] = []

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        self.requests.append(request)
        summary = request.schema is not None or request.text_only
        script = self.summaries if summary and self.summaries else self.script
        if not script:
            raise AssertionError("the script has no response for this request")
        finished = False
        try:
            for step in script.pop(0):
                if isinstance(step, asyncio.Event):
                    await step.wait()
                elif isinstance(step, Exception):
                    finished = True
                    raise step
                else:
                    finished = isinstance(step, ResponseDone)
                    if isinstance(step, ResponseDone) and step.usage is COUNTED:
                        step = ResponseDone(_count(request), step.stop)  # noqa: PLW2901
                    yield step
                    await asyncio.sleep(0)
        finally:
            self.cut_off += not finished

    async def count(self, request: Request) -> int | None:
        return self.counts.pop(0) if self.counts else None

    async def compact(self, request: Request) -> Compacted:
        self.compacted.append(request)
        if not self.compactions:
            raise RequestRejected(f"{self.name} has no compaction endpoint.")
        answer = self.compactions.pop(0)
        if isinstance(answer, ProviderError):
            raise answer
        return answer

    async def warm(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        self.closed = True


class FakeClock:
    """A `ports.Clock`. Sleepers wake when `advance` passes their time."""

    def __init__(self, start: datetime | None = None) -> None:
        self._start = start or datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        self._elapsed = 0.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []
        self._changed = asyncio.Event()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            return
        sleeper = (self._elapsed + seconds, asyncio.Event())
        self._sleepers.append(sleeper)
        self._changed.set()
        try:
            await sleeper[1].wait()
        finally:
            self._sleepers = [other for other in self._sleepers if other is not sleeper]

    async def advance(self, seconds: float) -> None:
        """Move on, and let those who woke run."""
        self._elapsed += seconds
        for at, event in self._sleepers:
            if at <= self._elapsed:
                event.set()
        await asyncio.sleep(0)

    async def sleeping(self) -> float:
        """Wait until someone sleeps; the seconds until the first of them wakes."""
        while not self._sleepers:
            self._changed.clear()
            await self._changed.wait()
        return min(at for at, _ in self._sleepers) - self._elapsed


def _count(request: Request) -> Usage:
    """A server's count: its tokenizer is another one, and it adds words of its own."""
    counter = Counter("none")
    tokens = sum(context_parts(counter, request.context, "chat").values())
    tokens += sum(count_item(counter, item, "chat") for item in request.items)
    return Usage(input=50 + tokens * 11 // 10, cached=tokens // 2, output=20)
