"""A recorded session, played again through the same path as a live one."""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from pathlib import Path

from pinfold.ports import (
    CallDelta,
    Clock,
    Delta,
    ModelInfo,
    PartDone,
    ReasoningDelta,
    Request,
    RequestRejected,
    ResponseDone,
    Review,
    TextDelta,
    Tool,
    ToolContext,
    ToolError,
    ToolOutcome,
)
from pinfold.rollout import events
from pinfold.rollout.items import Item
from pinfold.tokens.catalog import look_up

_WORD = re.compile(r"\s*\S{1,16}|\s+")
_STREAMED = {"assistant", "reasoning", "tool_call"}


@dataclass(frozen=True, slots=True)
class _Response:
    parts: tuple[Item, ...]
    finished: events.RequestFinished


class Replay:
    """A `ports.Provider` that answers each request with the next recorded response."""

    def __init__(self, path: Path, clock: Clock, *, speed: float = 1.0) -> None:
        """Read the rollout at `path`; `speed` 2 plays twice as fast, 0 without any wait.

        Raises `OSError`, and `ValueError` where the file is no rollout.
        """
        self.name = "replay"
        self.prompts: list[str] = []
        """What the user said, in order."""
        self.model: ModelInfo | None = None
        """The model that was recorded first."""
        self.context = events.Context()
        """The context that was recorded last."""
        self._clock = clock
        self._speed = speed
        self._results: dict[str, Item] = {}
        self._responses: list[_Response] = []
        self._next = 0
        self._read(path)

    def recorded_result(self, call_id: str) -> Item | None:
        """What the tool gave to that call when the session was recorded."""
        return self._results.get(call_id)

    def tools(self) -> tuple[Tool, ...]:
        """The recorded tools: they touch nothing and give what they gave then."""
        return tuple(_RecordedTool(schema, self) for schema in self.context.tools)

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:  # noqa: ARG002
        """The next response at its recorded pace. Raises `RequestRejected` after the last."""
        if self._next == len(self._responses):
            raise RequestRejected("The recording ends here.")
        response = self._responses[self._next]
        self._next += 1
        start = self._clock.monotonic()
        whole = sum(len(part.content) for part in response.parts) or 1
        played = 0
        for delta, length in _deltas(response.parts):
            played += length
            await self._wait_until(start, response.finished.seconds * played / whole)
            yield delta
        called = any(part.kind == "tool_call" for part in response.parts)
        yield ResponseDone(response.finished.usage, "tool_calls" if called else "stop")

    async def warm(self) -> None:
        """All is read."""

    async def close(self) -> None:
        """Nothing is held open."""

    async def _wait_until(self, start: float, seconds: float) -> None:
        wait = start + seconds / self._speed - self._clock.monotonic() if self._speed else 0.0
        if wait > 0:
            await self._clock.sleep(wait)
        else:
            await asyncio.sleep(0)

    def _read(self, path: Path) -> None:
        parts: dict[int, list[Item]] = {}
        lines = path.read_bytes().splitlines()
        for number, line in enumerate(lines, 1):
            try:
                event = events.decode(line)
            except (ValueError, RecursionError) as exc:
                if number == len(lines) > 1:
                    break  # a torn last line: the recording was killed there
                raise ValueError(f"{path}, line {number}: not a rollout: {exc}") from exc
            match event.data:
                case events.ItemAdded(item=item):
                    if item.kind == "user":
                        self.prompts.append(item.content)
                    elif item.kind == "tool_result" and item.call_id:
                        self._results[item.call_id] = item
                    elif item.kind in _STREAMED:
                        parts.setdefault(item.response, []).append(item)
                case events.RequestFinished(purpose="turn", status="ok") as finished:
                    found = tuple(parts.get(finished.response, ()))
                    self._responses.append(_Response(found, finished))
                case events.ModelChanged() as changed if self.model is None:
                    self.model = _model(changed)
                case events.ContextSet(context=context):
                    self.context = context


class _RecordedTool:
    """A `ports.Tool` that was recorded."""

    read_only = True

    def __init__(self, schema: events.ToolSchema, replay: Replay) -> None:
        self.schema = schema
        self._replay = replay

    def review(self, arguments: str, context: ToolContext) -> Review:  # noqa: ARG002
        result = self._replay.recorded_result(context.call_id)
        detail = result.detail if result else {}
        return Review("read", str(detail.get("title") or self.schema.name))

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:  # noqa: ARG002
        result = self._replay.recorded_result(context.call_id)
        if result is None:
            raise ToolError("The recording has no result for this call.")
        ok = bool(result.detail.get("ok", True))
        return ToolOutcome(result.content, ok=ok, detail=result.detail)


def _deltas(parts: tuple[Item, ...]) -> Iterator[tuple[Delta, int]]:
    """Each delta with the characters that it plays."""
    calls = 0
    for part in parts:
        for piece in _WORD.findall(part.content):
            delta: Delta
            if part.kind == "assistant":
                delta = TextDelta(piece)
            elif part.kind == "reasoning":
                delta = ReasoningDelta(piece)
            else:
                delta = CallDelta(calls, part.name or "", piece)
            yield delta, len(piece)
        calls += part.kind == "tool_call"
        yield _done(part), 0


def _done(part: Item) -> PartDone:
    assert part.kind in {"assistant", "reasoning", "tool_call"}
    foreign_id = part.origin.foreign_id if part.origin else None
    return PartDone(part.kind, part.content, part.call_id, part.name, foreign_id, part.opaque)


def _model(changed: events.ModelChanged) -> ModelInfo:
    entry = look_up(changed.model)
    return ModelInfo(
        name=changed.model,
        provider=changed.provider,
        context_window=changed.context_window,
        window_source="config",
        max_output=entry.max_output,
        encoding=entry.encoding,
    )
