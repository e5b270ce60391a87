"""The model that a session talks to, and changing it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from pinfold.agent.record import Record
from pinfold.agent.requests.connection import Connection
from pinfold.ports.errors import ProviderError
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import ModelChanged
from pinfold.tokens.catalog import EFFORTS, efforts
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import count_item
from pinfold.tokens.prices import Price, price_of
from pinfold.window.reading import GaugeReading


@dataclass(eq=False)
class ModelChoice:
    _record: Record
    connection: Connection
    _connect: Callable[[str], Awaitable[Connection]]
    """Reaches the model that the user names."""
    effort: str | None
    """Reasoning effort; None is the model's default."""
    prices: Mapping[str, Price]
    """Of models, for `price_of`."""

    @property
    def model(self) -> ModelInfo:
        return self.connection.model

    @property
    def price(self) -> Price | None:
        """What the model costs, where that is known."""
        return price_of(self.model.provider, self.model.name, self.prices)

    @property
    def efforts(self) -> tuple[str, ...]:
        """The levels that `effort` can have, least first; empty where that is not known."""
        return efforts(self.model.provider, self.model.name)

    async def note(self, reason: str) -> None:
        """Journal the model where it is not the one that the journal names last."""
        model, last = self.model, self._record.state.model
        now = ModelChanged(
            provider=model.provider,
            model=model.name,
            context_window=model.context_window,
            window_source=model.window_source,
            reason=reason,
            effort=self.effort or "",
        )
        if last is None or _identity(last) != _identity(now):
            await self._record.append(now)

    async def think(self, effort: str | None) -> None:
        """Set the reasoning effort from the next request on; None is the model's default.

        Raises `ValueError` where it does not take that level, and `JournalError`.
        """
        levels = self.efforts or EFFORTS
        if effort is not None and effort not in levels:
            raise ValueError(f"{self.model.name} takes {', '.join(levels)}, not “{effort}”.")
        self.effort = effort
        await self.note("effort chosen by the user")

    async def take(self, connection: Connection, reason: str) -> None:
        """Continue with `connection`. Raises `JournalError`."""
        old, self.connection = self.connection, connection
        await self.note(reason)
        if connection.wire_api != old.wire_api:
            await self.recount(self._record.gauge.counter)

    async def recount(self, counter: Counter) -> None:
        """Count the window again, with a counter that has loaded its tokenizer."""
        wire_api = self.connection.wire_api
        # Counted in a thread, remembered by the counter, then only added up here.
        items = [shown.item for shown in self._record.window.shown]
        await asyncio.to_thread(lambda: [count_item(counter, item, wire_api) for item in items])
        self._record.gauge.recount(counter, wire_api)

    async def switch(self, name: str, fit: Callable[[], Awaitable[GaugeReading | None]]) -> None:
        """Continue with the model of that name. `fit` makes the window fit it, and returns the
        gauge where the user leaves it too large.

        Raises `ProviderError`, also where the window stays too large, and `JournalError`.
        """
        old, new, effort = self.connection, await self._connect(name), self.effort
        levels = efforts(new.model.provider, new.model.name)
        if levels and effort not in levels:
            self.effort = None
        await self.take(new, "chosen by the user")
        too_large = await fit()
        if too_large is not None:
            self.effort = effort
            await self.take(old, "the window did not fit the other model")
        left = old if too_large is None else new
        if left.provider is not self.connection.provider:
            await left.close()
        if too_large is not None:
            raise ProviderError(
                f"The window does not fit {new.model.name}: {too_large.used:,} tokens, and it "
                f"takes {too_large.usable:,}. Still on {old.model.name}; /compact makes room."
            )


def _identity(change: ModelChanged) -> tuple[str, str, int, str]:
    return (change.provider, change.model, change.context_window, change.effort)
