"""Sending a failed request again, after a wait, where that can help."""

from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

from pinfold.ports.clock import Clock
from pinfold.ports.errors import ProviderError

BASE = 0.5
CAP = 30.0
"""Seconds; a server that names a longer wait is obeyed."""

Answer = TypeVar("Answer")


def delay(error: ProviderError, attempt: int, rng: Random) -> float:
    """Seconds before attempt `attempt + 1`; never less than the server asks for."""
    backoff = min(CAP, BASE * 2.0 ** (attempt - 1))
    if error.retry_after is not None:
        return error.retry_after + rng.uniform(0, 0.1 * backoff)
    return backoff * rng.uniform(0.75, 1.25)


async def insist(
    ask: Callable[[int], Awaitable[Answer]],
    clock: Clock,
    rng: Random,
    *,
    retries: int,
    longest_wait: float,
    waiting: Callable[[ProviderError, int, float], None],
) -> Answer:
    """What `ask` returns; it gets the number of the attempt, from 1.

    A server that asks for more than `longest_wait` seconds is not waited for. `waiting` hears the
    error, the attempt and the seconds of each wait. Raises what `ask` raised last.
    """
    attempt = 1
    while True:
        try:
            return await ask(attempt)
        except ProviderError as error:
            too_long = (error.retry_after or 0) > longest_wait
            if not error.retryable or too_long or attempt > retries:
                raise
            seconds = delay(error, attempt, rng)
            waiting(error, attempt, seconds)
        await clock.sleep(seconds)
        attempt += 1
