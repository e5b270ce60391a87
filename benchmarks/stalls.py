"""How long the event loop is busy at a stretch."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from textual.app import App

STALL = 50
"""Milliseconds that it may be."""


async def stalls(act: Callable[[], Awaitable[object]]) -> float:
    """The longest time, in CPU milliseconds, that nothing else got its turn during `act`."""
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(0.001)
            longest = max(longest, time.thread_time() - before)

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0.01)
    await act()
    await asyncio.sleep(0.01)
    ticking.cancel()
    return longest * 1e3


async def painted(app: App[Any]) -> None:
    """Wait until what has changed is on the screen."""
    done = asyncio.Event()
    app.call_after_refresh(done.set)
    await done.wait()
