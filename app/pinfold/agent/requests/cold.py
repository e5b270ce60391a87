"""What the next request costs when the provider's prompt cache has expired."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from pinfold.agent.record import Record
from pinfold.agent.requests.connection import Connection
from pinfold.numbers import precise
from pinfold.ports.clock import Clock
from pinfold.rollout.journal import JournalError
from pinfold.tokens.prices import Price, cold_cost, price_of
from pinfold.window.reading import GaugeReading
from pinfold.window.refused import Refused
from pinfold.wire.caching import kept_for

WORTH = 0.9
"""Of what a request costs as it is, that a compacted one costs at most where it is named."""


async def cold_said(
    record: Record,
    connection: Connection,
    clock: Clock,
    prices: Mapping[str, Price],
    reading: GaugeReading,
    compacted: Callable[[], Awaitable[int]],
) -> str:
    """A sentence for a session that goes on; empty where the cache may hold its window, nothing was
    sent yet, or the price is not known.

    `compacted` gives the tokens of the request once the window is compacted.
    """
    state, model = record.state, connection.model
    price = price_of(model.provider, model.name, prices)
    if price is None or state.asked_at is None:
        return ""
    seconds = (clock.now() - state.asked_at).total_seconds()
    same = state.asked_model == f"{model.provider}/{model.name}"
    if same and seconds < kept_for(connection.base_url, model.name):
        return ""
    costs = precise(cold_cost(reading.used, price))
    less = ""
    with suppress(Refused, JournalError):
        smaller = await compacted()
        if smaller < WORTH * reading.used:
            less = f"; compacted first (/compact), {precise(cold_cost(smaller, price))}"
    return f"The prompt cache is cold: the next request will cost about {costs}{less}."
