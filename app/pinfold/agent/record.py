"""The record of a session: its journal, all that is folded from it, and who listens.

Everything that a session writes goes through `append`. An event is durable before it is folded,
and folded before a listener hears of it.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TypeVar

from msgspec.structs import replace

from pinfold.agent import projection_cache
from pinfold.agent.updates import Appended, Phase, PhaseChanged, Told, Update
from pinfold.checkpoint.known import Known
from pinfold.compaction.view import WindowView
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import Data, Event, ItemAdded, TurnFinished, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal, JournalError
from pinfold.settings import WireApi
from pinfold.tokens.counter import Counter
from pinfold.window.bodies import ItemLost
from pinfold.window.refused import Refused

Make = Callable[[int], Sequence[Data]]
T = TypeVar("T")

READ_ONLY = "This session is open read-only. /fork continues in a fork of it."
BUSY = "A turn is running: press Esc first, or wait for its end."
SAVE_EVERY = 4_194_304
"""Bytes of the rollout after which the cache of the projections is written between turns."""


class Record:
    """Reads the journal when made: make it off the event loop."""

    def __init__(self, journal: Journal, counter: Counter, wire_api: WireApi) -> None:
        self.journal = journal
        self._projections = projection_cache.resume(journal, counter, wire_api)
        self.state = self._projections.state
        self.window = self._projections.window
        self.gauge = self._projections.gauge
        self.phase: Phase = "idle"
        self._listeners: list[Callable[[Update], None]] = []
        self._lock = asyncio.Lock()
        self._knowing = asyncio.Lock()
        self._saving: asyncio.Task[None] | None = None

    async def append(self, *data: Data) -> tuple[Event, ...]:
        """Write events. Raises `JournalError`; then nothing was written."""
        return await self.add(lambda _: data)

    async def add(self, make: Make) -> tuple[Event, ...]:
        """Like `append`, for events that need the next item's number, which `make` is given."""
        # A cancelled turn must not lose an event that the disk already holds.
        writing = asyncio.ensure_future(self._write(make))
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])
            writing.exception()  # the turn that would have been told is gone
            raise

    async def put(
        self, item: Item, following: Callable[[int], Iterable[Data]] = lambda _: ()
    ) -> Item:
        """Write an item, and the events that `following` makes for its number; the item with that
        number. Raises `JournalError`."""
        events = await self.add(lambda n: [ItemAdded(item=replace(item, n=n)), *following(n)])
        added = events[0].data
        assert isinstance(added, ItemAdded)
        return added.item

    def check_writable(self) -> None:
        """Raises `Refused`."""
        if self.journal.read_only:
            raise Refused(READ_ONLY)

    async def _write(self, make: Make) -> tuple[Event, ...]:
        async with self._lock:
            events = await asyncio.to_thread(self._commit, make(self.state.last_n + 1))
            for event in events:
                self._projections.step(event)
            for event in events:
                self.tell(Appended(event))
            if any(isinstance(event.data, WindowReplaced) for event in events):
                await asyncio.to_thread(self._let_go)
            if any(isinstance(event.data, TurnFinished) for event in events):
                self._save_now_and_then()
            return events

    async def known(self) -> Known:
        """Checkpoint, digest and core as of the last event. Raises `JournalError`."""
        return await self.learn(lambda known: known)

    async def learn(self, take: Callable[[Known], T]) -> T:
        """The result of `take` on it, in a thread. Raises `JournalError`."""
        async with self._knowing:
            folding = asyncio.ensure_future(
                asyncio.to_thread(lambda: take(self._projections.catch_up()))
            )
            try:
                return await asyncio.shield(folding)
            except asyncio.CancelledError:
                await asyncio.wait([folding])  # nobody may look at it half folded
                raise

    async def view(self, model: ModelInfo) -> WindowView:
        """The window now, with checkpoint, digest and core. Raises `JournalError`."""
        await self.known()
        return self._projections.view(model)

    def _commit(self, data: Sequence[Data]) -> tuple[Event, ...]:
        events = self.journal.append(*data)
        self.gauge.count_ahead(events)
        return events

    def _let_go(self) -> None:
        """Drop bodies that left the window from memory: the rollout has them."""
        with suppress(ItemLost, JournalError):  # then it stays
            self.window.settle()

    def _save_now_and_then(self) -> None:
        """Write the cache between turns, so that a crash does not slow the next opening."""
        idle = self._saving is None or self._saving.done()
        if idle and self._projections.offset - self._projections.saved > SAVE_EVERY:
            self._saving = asyncio.create_task(self._save())

    async def _save(self) -> None:
        projections = self._projections
        if self.journal.read_only or projections.saved == projections.offset:
            return
        projections.saved = projections.offset
        if (dump := projection_cache.pack(projections)) is not None:
            await asyncio.to_thread(projection_cache.save, self.journal, dump, projections.saved)

    async def close(self) -> None:
        """Release the journal."""
        if self._saving is not None:
            await self._saving
        await self._save()
        await asyncio.to_thread(self.journal.close)

    def subscribe(self, listener: Callable[[Update], None]) -> Callable[[], None]:
        """Hear every update from now on, on the event loop's thread. Returns how to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self, update: Update) -> None:
        for listener in tuple(self._listeners):
            listener(update)

    def warn(self, text: str) -> None:
        self.tell(Told(text, "warning"))

    def enter(self, phase: Phase) -> None:
        if phase != self.phase:
            self.phase = phase
            self.tell(PhaseChanged(phase))
