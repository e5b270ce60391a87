"""The index of all sessions: where it lies, and filling it beside other work."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from pinfold import paths
from pinfold.catalog.catalog import Catalog
from pinfold.host.app_context import AppContext

_REST = 2.0
"""Times as long as it read, that filling in the background rests."""
_LOW = 15
"""The priority of its thread, as `nice` counts."""


def catalog(ctx: AppContext) -> Catalog:
    """The index of the sessions in `ctx`."""
    from pinfold.host.vault import Searched

    vault = Searched(ctx.home) if ctx.sessions == ctx.home else None
    return Catalog(ctx.sessions, paths.catalog(ctx.sessions), vault)


def forget(ctx: AppContext, folder: Path) -> None:
    """Take a session (or an entry of the vault) that is deleted out of the index."""
    catalog(ctx).forget(folder)


async def keep_up(ctx: AppContext) -> None:
    """Bring the index up to date in a thread that stays behind all others, until cancelled."""
    stopped = threading.Event()
    filling = asyncio.create_task(asyncio.to_thread(_fill, ctx, stopped.is_set))
    try:
        await asyncio.shield(filling)
    except asyncio.CancelledError:
        stopped.set()
        await asyncio.wait([filling])
        raise


def _fill(ctx: AppContext, stopped: Callable[[], bool]) -> None:
    low_priority()
    for _ in resting(catalog(ctx).fill(), stopped):
        pass


def low_priority() -> None:
    """Have the present thread run after others, where the system can (Linux)."""
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOW)


def resting(steps: Iterator[int], stopped: Callable[[], bool]) -> Iterator[int]:
    """The same steps with a rest after each, so that others get the interpreter."""
    before = time.monotonic()
    for step in steps:
        if stopped():
            return
        yield step
        time.sleep((time.monotonic() - before) * _REST)
        before = time.monotonic()
