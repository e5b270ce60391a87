"""The order of calls that run side by side: questions and results come in that of the calls."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Place:
    """Where a call stands: behind the one before it, if there is one."""

    def __init__(self, before: "Place | None" = None) -> None:
        self._before = before
        self._asked = asyncio.Event()
        self._written = asyncio.Event()

    async def to_ask(self) -> None:
        """Wait until the calls before need no answer any more."""
        if self._before is not None:
            await self._before._asked.wait()

    def answered(self) -> None:
        """This call needs no answer any more."""
        self._asked.set()

    async def write(self, writing: Coroutine[Any, Any, None]) -> None:
        """Do `writing` once the calls before have written theirs, even if it is cancelled: these
        are cancelled too, so the wait is short."""
        task = asyncio.ensure_future(self._in_turn(writing))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await task
            raise

    async def _in_turn(self, writing: Coroutine[Any, Any, None]) -> None:
        if self._before is not None:
            await self._before._written.wait()
        await writing

    def leave(self) -> None:
        """The call has ended, whether it wrote something or not."""
        self._asked.set()
        self._written.set()
        self._before = None
