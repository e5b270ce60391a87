"""A clock on which nobody waits."""

import asyncio
from datetime import UTC, datetime, timedelta


class Clock:
    """A `ports.Clock` that runs ahead whenever somebody sleeps."""

    def __init__(self) -> None:
        self._elapsed = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 2, tzinfo=UTC) + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        self._elapsed += seconds
        await asyncio.sleep(0)
