"""How long to wait before a failed request is sent again."""

from random import Random

from pinfold.ports import ProviderError

BASE = 0.5
CAP = 30.0
"""Seconds; a server that names a longer wait is obeyed."""


def delay(error: ProviderError, attempt: int, rng: Random) -> float:
    """Seconds before attempt `attempt + 1`; never less than a told wait."""
    backoff = min(CAP, BASE * 2.0 ** (attempt - 1))
    if error.retry_after is not None:
        return error.retry_after + rng.uniform(0, 0.1 * backoff)
    return backoff * rng.uniform(0.75, 1.25)
