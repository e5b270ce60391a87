"""Keeps questions and results of parallel calls in the order of the calls."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class CallPlace:
    """The place of a call in that order, after the one before it."""

    def __init__(self, before: "CallPlace | None" = None) -> None:
        self._before = before
        self._asked = asyncio.Event()
        self._written = asyncio.Event()

    async def to_ask(self) -> None:
        """Wait until the earlier calls have asked what they ask."""
        if self._before is not None:
            await self._before._asked.wait()

    def answered(self) -> None:
        """This call asks nothing more."""
        self._asked.set()

    async def write(self, writing: Coroutine[Any, Any, None]) -> None:
        """Await `writing` after the earlier calls have written, even if cancelled: they are
        cancelled too, so the wait is short."""
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
