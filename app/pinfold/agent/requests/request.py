"""One response from the model: streamed, journalled part by part, retried if that can help."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from random import Random
from typing import Any

from msgspec import structs

from pinfold.agent.context.remembering import BLOCK, Remembering
from pinfold.agent.record import Record
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.metadata import Metadata
from pinfold.agent.requests.retry import insist
from pinfold.agent.updates import Retrying, StreamDropped, Streamed
from pinfold.ports.clock import Clock
from pinfold.ports.errors import MalformedStream, ProviderError
from pinfold.ports.provider import (
    CallDelta,
    PartDone,
    ReasoningDelta,
    Request,
    ResponseDone,
    TextDelta,
)
from pinfold.rollout.arguments import parsed
from pinfold.rollout.events import MemoryUsed, RequestFinished
from pinfold.rollout.items import Item, Kind, Origin
from pinfold.rollout.journal import JournalError
from pinfold.rollout.values import Usage

LONGEST_WAIT = 3_600.0
"""Seconds; a server that asks for more is not waited for."""
BROKE = "[The connection broke after the text above. Continue from where it stopped.]"
LOST = "[The connection broke inside a call of {}, which did not run. Make it again.]"


@dataclass(slots=True)
class _Pieces:
    """The streamed pieces of parts that are not complete."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: dict[int, str] = field(default_factory=dict)
    """Tools by the place of their call in the response."""

    @property
    def lost(self) -> str:
        """The tools of calls that are not whole: `apply_patch, shell`."""
        return ", ".join(dict.fromkeys(name or "a tool" for name in self.calls.values()))

    def finish(self, kind: Kind) -> None:
        match kind:
            case "assistant":
                self.text.clear()
            case "reasoning":
                self.reasoning.clear()
            case _ if self.calls:
                del self.calls[min(self.calls)]

    def __bool__(self) -> bool:
        return bool(self.text or self.reasoning or self.calls)


@dataclass(slots=True)
class Response:
    """The items of a response, and why it ended."""

    number: int
    items: list[Item] = field(default_factory=list)
    stop: str = ""
    lost: str = ""
    """Tools of calls that were cut off."""
    usage: Usage = field(default_factory=Usage)
    """Where the provider told it."""

    @property
    def calls(self) -> list[Item]:
        return [item for item in self.items if item.kind == "tool_call"]

    @property
    def cut_call(self) -> Item | None:
        """The last call, where the output limit cut its arguments."""
        calls = self.calls
        cut = self.stop == "length" and calls and parsed(calls[-1].content) is None
        return calls[-1] if cut else None

    @property
    def empty(self) -> bool:
        """Whether it says and does nothing."""
        return not self.lost and all(item.kind == "reasoning" for item in self.items)


class Requester:
    """Sends the window to the model and journals the response."""

    def __init__(
        self,
        record: Record,
        clock: Clock,
        metadata: Metadata,
        remembering: Remembering,
        *,
        max_retries: int,
        effort: Callable[[], str | None],
        rng: Random,
    ) -> None:
        self._record = record
        self._clock = clock
        self._metadata = metadata
        self._remembering = remembering
        self._max_retries = max_retries
        self._effort = effort
        self.schema: Mapping[str, Any] | None = None
        """What every reply has to obey, if anything: a JSON schema."""
        self._rng = rng

    async def respond(
        self, connection: Connection, turn: int, fit: Callable[[], Awaitable[object]]
    ) -> Response:
        """The next response; `fit` makes the window fit before a retry.

        Raises `ProviderError` when retrying can't help or is used up.
        """

        async def ask(attempt: int) -> Response:
            if attempt > 1:
                await fit()  # the user may have unfolded something meanwhile
            response = Response(self._record.state.response + 1)
            try:
                await self._attempt(connection, turn, response, attempt)
            except ProviderError as error:
                if not response.calls:
                    raise
                self._record.warn(f"{error} What had arrived whole is used.")
            return response

        return await insist(
            ask,
            self._clock,
            self._rng,
            retries=self._max_retries,
            longest_wait=LONGEST_WAIT,
            waiting=self._waiting,
        )

    def _waiting(self, error: ProviderError, attempt: int, seconds: float) -> None:
        self._record.enter("waiting")
        at, attempts = self._clock.monotonic() + seconds, self._max_retries + 1
        self._record.tell(Retrying(str(error), attempt, at, attempts, seconds))

    async def _attempt(
        self, connection: Connection, turn: int, response: Response, attempt: int
    ) -> None:
        record, model = self._record, connection.model
        request = Request(
            model,
            record.state.context.context,
            record.window.items,
            self._effort(),
            schema=self.schema,
            headers=self._metadata.headers("turn"),
            cache_key=self._metadata.cache_key,
        )
        window_id = self._metadata.window_id
        through, carried = record.state.seq, len(record.window.shown)
        started = self._clock.monotonic()
        pieces = _Pieces()

        def finished(status: str, error: str, done: ResponseDone | None) -> RequestFinished:
            return RequestFinished(
                purpose="turn",
                provider=model.provider,
                model=model.name,
                response=response.number,
                through_seq=through,
                # Counted only now: the tokenizer may have come while the request was under way.
                estimate=record.gauge.estimate_through(carried),
                status=status,
                error=error,
                usage=done.usage if done else None,
                seconds=round(self._clock.monotonic() - started, 3),
                attempt=attempt,
                window_id=window_id,
            )

        record.enter("requesting")
        try:
            done = await self._read(connection, request, turn, response, pieces)
        except ProviderError as error:
            await self._keep(pieces, connection, turn, response, reasoning=not error.retryable)
            await record.append(finished(type(error).__name__, str(error), None))
            response.lost = pieces.lost
            if response.lost:
                record.warn(f"{error} A call of {response.lost} was lost.")
            said = next((i for i in reversed(response.items) if i.kind == "assistant"), None)
            if said:
                record.warn(f"{error} What had arrived is kept as #{said.n}.")
            if not response.calls and (response.lost or (said and error.retryable)):
                # Without a word from the other side, some servers take the text for a prefill.
                text = LOST.format(response.lost) if response.lost else BROKE
                await self._add(Item(n=0, kind="context", content=text, turn=turn))
            raise
        except JournalError:
            record.tell(StreamDropped())
            raise
        except asyncio.CancelledError:
            await self._keep(pieces, connection, turn, response, reasoning=True)
            await record.append(finished("interrupted", "", None))
            raise
        await record.append(finished("ok", "", done))
        response.stop, response.lost = done.stop, pieces.lost
        response.usage = done.usage or Usage()

    async def _read(
        self,
        connection: Connection,
        request: Request,
        turn: int,
        response: Response,
        pieces: _Pieces,
    ) -> ResponseDone:
        record = self._record
        done: ResponseDone | None = None
        self._remembering.begin()
        async with aclosing(connection.provider.stream(request)) as stream:
            async for delta in stream:
                match delta:
                    case TextDelta(text):
                        pieces.text.append(text)
                    case ReasoningDelta(text):
                        pieces.reasoning.append(text)
                    case CallDelta(index=index, name=name):
                        pieces.calls[index] = name
                    case PartDone():
                        pieces.finish(delta.kind)
                        await self._part(delta, connection, turn, response)
                        continue
                    case ResponseDone():
                        done = delta
                        continue
                record.enter("streaming")
                record.tell(Streamed(self._remembering.passed(delta)))
        if done is None:
            raise MalformedStream("The reply ended without its closing event.")
        return done

    async def _part(
        self, part: PartDone, connection: Connection, turn: int, response: Response
    ) -> None:
        if part.kind == "assistant" and not part.content.strip():
            return
        item = Item(
            n=0,
            kind=part.kind,
            content=part.content,
            turn=turn,
            response=response.number,
            call_id=part.call_id,
            name=part.name,
            origin=_origin(connection, part.foreign_id),
            opaque=part.opaque,
        )
        cut = self._remembering.cut(part.content) if part.kind == "assistant" else None
        if cut is not None:
            item = structs.replace(item, content=cut.text, detail={BLOCK: cut.block})
        used = await self._remembering.used(cut) if cut is not None else None
        response.items.append(await self._add(item, used))

    async def _keep(
        self,
        pieces: _Pieces,
        connection: Connection,
        turn: int,
        response: Response,
        *,
        reasoning: bool,
    ) -> None:
        """Journal the pieces of parts that were cut off."""
        kinds: tuple[tuple[Kind, list[str]], ...] = (
            ("reasoning", pieces.reasoning if reasoning else []),
            ("assistant", pieces.text),
        )
        for kind, parts in kinds:
            text = "".join(parts)
            if text.strip():
                cut = self._remembering.cut(text) if kind == "assistant" else None
                item = Item(
                    n=0,
                    kind=kind,
                    content=text if cut is None else cut.text,
                    detail={} if cut is None else {BLOCK: cut.block},
                    turn=turn,
                    response=response.number,
                    state="interrupted",
                    origin=_origin(connection, None),
                )
                response.items.append(await self._add(item))
        if pieces:
            self._record.tell(StreamDropped())

    async def _add(self, item: Item, used: MemoryUsed | None = None) -> Item:
        """Journal an item, and the memories that it used."""
        if used is None:
            return await self._record.put(item)
        added = await self._record.put(item, lambda n: [structs.replace(used, item=n)])
        await self._remembering.count(used, self._clock.now())
        return added


def _origin(connection: Connection, foreign_id: str | None) -> Origin:
    model = connection.model
    return Origin(provider=model.provider, model=model.name, foreign_id=foreign_id)
