"""Work in a background thread of low priority."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

_REST = 2.0
"""Rest after a step, as a multiple of its time."""
_LOW = 15
"""Priority of the thread, as for `nice`."""

Stopped = Callable[[], bool]


async def behind(work: Callable[[Stopped], object]) -> None:
    """Run `work` in such a thread; if cancelled, wait until it stops."""
    stopped = threading.Event()
    working = asyncio.create_task(asyncio.to_thread(_run, work, stopped.is_set))
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        stopped.set()
        await asyncio.wait([working])
        raise


def _run(work: Callable[[Stopped], object], stopped: Stopped) -> None:
    with suppress(OSError, AttributeError):  # Linux alone has priorities of threads
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOW)
    work(stopped)


def resting(steps: Iterator[int], stopped: Stopped) -> Iterator[int]:
    """The same steps with a rest after each, for other threads."""
    before = time.monotonic()
    for step in steps:
        if stopped():
            return
        yield step
        time.sleep((time.monotonic() - before) * _REST)
        before = time.monotonic()
