"""Having a model write about a window: requests of their own, journalled, with no tools."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from random import Random
from typing import Any, TypeVar, cast

from pinfold.agent.metadata import Metadata
from pinfold.agent.record import Record
from pinfold.agent.request import Connection
from pinfold.agent.retry import delay
from pinfold.ports import (
    Clock,
    Compacted,
    Delta,
    MalformedStream,
    ModelInfo,
    PartDone,
    Progress,
    ProviderError,
    Request,
    RequestRejected,
    ResponseDone,
    TextDelta,
)
from pinfold.rollout.events import Compaction, Context, RequestFinished, Usage
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import context_parts, count_item
from pinfold.tokens.prices import Price, cost, price_of

RETRIES = 2
"""A compaction that fails has `checkpoint` to fall back on: it does not insist."""
LONGEST_WAIT = 60.0
"""Seconds; a server that asks for more is not waited for."""
ENVELOPE = 64
"""Tokens that a chat template may put around instructions and text."""

Answer = TypeVar("Answer")
Step = Callable[[str, float], None]
"""Told where the work stands: a name, and a share in [0, 1]."""


class Summarizing:
    """Makes summarizers for the model that is to write: the session's, or one of its own."""

    def __init__(
        self,
        record: Record,
        clock: Clock,
        metadata: Metadata,
        connection: Callable[[], Connection],
        connect: Callable[[], Awaitable[Connection]] | None = None,
        prices: Mapping[str, Price] | None = None,
        window: int | None = None,
    ) -> None:
        """`connect` reaches the model for compactions; without one it is the session's, within a
        context window of `window` tokens where that is given.

        `prices` go by model.
        """
        self._record = record
        self._clock = clock
        self._metadata = metadata
        self._session = connection
        self._connect = connect
        self._prices = prices or {}
        self._window = window
        self._own: Connection | None = None
        self._connecting = asyncio.Lock()
        self._counters: dict[str, Counter] = {}

    async def summarizer(
        self, compaction: Compaction, told: Step, left: Callable[[], int] | None = None
    ) -> "ModelSummarizer":
        """One for this compaction; `left` tells the tokens that it may still use.

        Raises `ProviderError`.
        """
        connection = await self._reached()
        counter = self._record.gauge.counter
        encoding = connection.model.encoding
        if counter.encoding != encoding:
            counter = self._counters.setdefault(encoding, Counter(encoding))
            await asyncio.to_thread(counter.load)
        return ModelSummarizer(
            self._record,
            self._clock,
            self._metadata,
            connection,
            counter,
            compaction,
            told,
            price_of(connection.model.provider, connection.model.name, self._prices),
            left,
        )

    async def quote(self, tokens: int) -> tuple[str, float | None]:
        """The model that would write, and what reading so many tokens costs there, in US dollars.

        Raises `ProviderError`.
        """
        model = (await self._reached()).model
        price = price_of(model.provider, model.name, self._prices)
        return model.name, None if price is None else cost(Usage(input=tokens), price)

    async def _reached(self) -> Connection:
        if self._connect is None:
            return self._session().within(self._window)
        async with self._connecting:
            if self._own is None:
                self._own = await self._connect()
            return self._own

    async def close(self) -> None:
        if self._own is not None:
            await self._own.provider.close()


class ModelSummarizer:
    """`ports.Summarizer` over one connection."""

    def __init__(
        self,
        record: Record,
        clock: Clock,
        metadata: Metadata,
        connection: Connection,
        counter: Counter,
        compaction: Compaction,
        told: Step,
        price: Price | None,
        left: Callable[[], int] | None,
    ) -> None:
        self._record = record
        self._clock = clock
        self._metadata = metadata
        self._connection = connection
        self._counter = counter
        self._compaction = compaction
        self._told = told
        self._price = price
        self._left = left
        self._rng = Random()  # noqa: S311  jitter
        self._step, self._share = "", 0.0
        self.spent = Usage()
        """Tokens of all its requests."""

    @property
    def model(self) -> ModelInfo:
        return self._connection.model

    @property
    def cost(self) -> float | None:
        """US dollars of what it spent, where the price is known."""
        return None if self._price is None else cost(self.spent, self._price)

    def room(self, max_tokens: int) -> int:
        model = self.model
        return max(0, model.context_window - min(max_tokens, model.max_output) - ENVELOPE)

    def count(self, text: str) -> int:
        rate = self._record.gauge.calibration.rate(self.model.provider, self.model.name)
        return round(self._counter.count(text) * max(1.0, rate))

    def step(self, name: str, done: float) -> None:
        self._step, self._share = name, done
        self._told(name, done)

    def _add(self, detail: str) -> None:
        """Tell what goes on within the step."""
        self._told(f"{self._step}, {detail}", self._share)

    async def __call__(
        self,
        instructions: str,
        text: str,
        max_tokens: int,
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> str:
        request = Request(
            self.model,
            Context(instructions=instructions),
            (Item(n=0, kind="user", content=text),),
            headers=self._metadata.headers("compaction", self._compaction),
            schema=schema,
            max_output=min(max_tokens, self.model.max_output),
        )
        return await self._insist(request, self._read)

    async def compacted(self, items: Sequence[Item]) -> Compacted:
        context = self._record.state.context.context
        headers = self._metadata.headers("compaction", self._compaction)
        request = Request(self.model, context, tuple(items), headers=headers)

        async def ask(request: Request) -> tuple[Compacted, Usage | None]:
            compacted = await self._connection.provider.compact(request)
            return compacted, compacted.usage

        return await self._insist(request, ask)

    async def _insist(
        self, request: Request, ask: Callable[[Request], Awaitable[tuple[Answer, Usage | None]]]
    ) -> Answer:
        """Ask, and again after a wait where that can help; each request is journalled."""
        attempt = 1
        most = self._estimate(request) + (request.max_output or 0)
        while True:
            if self._left is not None and most > self._left():
                raise RequestRejected("What this may use is spent.")
            started = self._clock.monotonic()
            try:
                answer, usage = await ask(request)
            except ProviderError as error:
                await self._journal(request, started, attempt, type(error).__name__, str(error))
                long = (error.retry_after or 0) > LONGEST_WAIT
                if not error.retryable or long or attempt > RETRIES:
                    raise
                self._add(f"{error}; trying again")
                await self._clock.sleep(delay(error, attempt, self._rng))
                attempt += 1
            except asyncio.CancelledError:
                await self._journal(request, started, attempt, "interrupted")
                raise
            else:
                await self._journal(request, started, attempt, "ok", usage=usage)
                return answer

    async def _read(self, request: Request) -> tuple[str, Usage | None]:
        parts: list[str] = []
        streamed = 0
        done: ResponseDone | None = None
        # Providers are async generators: closing one at once closes its connection.
        stream = cast("AsyncGenerator[Delta, None]", self._connection.provider.stream(request))
        async with aclosing(stream):
            async for delta in stream:
                match delta:
                    case TextDelta():
                        streamed += 1
                        if streamed % 50 == 0:
                            self._add(f"{streamed:,} tokens written")
                    case Progress(note=note, done=share):
                        self._add(note if share is None else f"{note} {share:.0%}")
                    case PartDone(kind="assistant", content=content):
                        parts.append(content)
                    case ResponseDone():
                        done = delta
        if done is None:
            raise MalformedStream("The reply ended without its closing event.")
        return "".join(parts), done.usage

    async def _journal(
        self,
        request: Request,
        started: float,
        attempt: int,
        status: str,
        error: str = "",
        usage: Usage | None = None,
    ) -> None:
        record, model = self._record, self.model
        if usage is not None:
            spent = self.spent
            self.spent = Usage(
                input=spent.input + usage.input,
                cached=spent.cached + usage.cached,
                output=spent.output + usage.output,
            )
        await record.append(
            RequestFinished(
                purpose="compaction",
                provider=model.provider,
                model=model.name,
                response=0,
                through_seq=record.state.seq,
                estimate=self._estimate(request),
                status=status,
                error=error,
                usage=usage,
                seconds=round(self._clock.monotonic() - started, 3),
                attempt=attempt,
                window_id=self._metadata.window_id,
                compaction=self._compaction,
            )
        )

    def _estimate(self, request: Request) -> int:
        """Input tokens of a request, as counted here."""
        context = sum(context_parts(self._counter, request.context, "chat").values())
        return context + sum(count_item(self._counter, item, "chat") for item in request.items)
