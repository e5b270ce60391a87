"""The real clock."""

import asyncio
import time
from datetime import UTC, datetime


class SystemClock:
    """`Clock` on the machine's time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


CLOCK = SystemClock()
