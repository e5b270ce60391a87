"""Has a model summarise a session's window, in journalled requests of its own."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from pinfold.agent.record import Record
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.metadata import Metadata
from pinfold.agent.requests.writing import Attempt, Step, Writer
from pinfold.ports.clock import Clock
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import RequestFinished
from pinfold.rollout.values import Compaction, Usage
from pinfold.tokens.counter import Counter
from pinfold.tokens.prices import Price, cost, price_of
from pinfold.wire.wires import wire_of


@dataclass(frozen=True, slots=True)
class Quote:
    """What reading costs, in US dollars; nothing where the price is not known."""

    model: str
    cost: float | None = None
    cached: float | None = None
    """Where the provider's prompt cache still holds what is read."""


@dataclass(eq=False)
class Summarizing:
    """Makes summarizers for the model that is to write: the session's, or one of its own."""

    _record: Record
    _clock: Clock
    _metadata: Metadata
    _session: Callable[[], Connection]
    _connect: Callable[[], Awaitable[Connection]] | None
    """Reaches the model for compactions; None is the session's."""
    _prices: Mapping[str, Price]
    _window: int | None
    """Tokens of context that the session's model has here; None is all it has."""
    _effort: Callable[[], str | None]
    """The reasoning effort of the session's model."""
    _own: Connection | None = field(default=None, init=False)
    _connecting: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _counters: dict[str, Counter] = field(default_factory=dict, init=False)

    async def summarizer(
        self, compaction: Compaction, told: Step, left: Callable[[], int] | None = None
    ) -> Writer:
        """One for this compaction; `left` tells the tokens that it may still use.

        Raises `ProviderError`.
        """
        connection = await self._reached()
        counter = self._record.gauge.counter
        encoding = connection.model.encoding
        if counter.encoding != encoding:
            counter = self._counters.setdefault(encoding, Counter(encoding))
            await asyncio.to_thread(counter.load)
        model, record = connection.model, self._record

        async def journal(attempt: Attempt) -> None:
            await record.append(
                RequestFinished(
                    purpose="compaction",
                    provider=model.provider,
                    model=model.name,
                    response=0,
                    through_seq=record.state.seq,
                    estimate=attempt.estimate,
                    status=attempt.status,
                    error=attempt.error,
                    usage=attempt.usage,
                    seconds=attempt.seconds,
                    attempt=attempt.number,
                    window_id=self._metadata.window_id,
                    compaction=compaction,
                )
            )

        return Writer(
            connection.provider,
            model,
            counter,
            self._clock,
            context=(lambda: record.state.context.context) if self._is_own(model) else None,
            effort=self._effort(),
            headers=self._metadata.headers("compaction", compaction),
            cache_key=self._metadata.cache_key,
            journal=journal,
            price=price_of(model.provider, model.name, self._prices),
            rate=lambda: record.gauge.calibration.rate(model.provider, model.name),
            left=left,
            told=told,
        )

    @property
    def provider_compacts(self) -> bool:
        """Whether the session's provider may have a compaction endpoint."""
        return wire_of(self._session().wire_api).compacting is not None

    async def quote(self, tokens: int) -> Quote:
        """What it costs to have so many tokens read. Raises `ProviderError`."""
        model = (await self._reached()).model
        price = price_of(model.provider, model.name, self._prices)
        if price is None:
            return Quote(model.name)
        cached = None
        if price.cached is not None and self._is_own(model):
            cached = cost(Usage(input=tokens, cached=tokens), price)
        return Quote(model.name, cost(Usage(input=tokens), price), cached)

    def _is_own(self, model: ModelInfo) -> bool:
        """Whether it is the session's model, whose provider may have the window in its cache."""
        own = self._session().model
        return (own.provider, own.name) == (model.provider, model.name)

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
