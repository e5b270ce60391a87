"""The record of a session: its journal, all that is folded from it, and who listens.

Everything that a session writes goes through `append`. An event is durable before it is folded,
and folded before a listener hears of it.
"""

import asyncio
from collections.abc import Callable, Sequence

from pinfold.agent.state import State
from pinfold.agent.updates import Appended, Phase, PhaseChanged, Told, Update
from pinfold.rollout.events import Data, Event
from pinfold.rollout.journal import Journal
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import WireApi
from pinfold.window.gauge import Gauge
from pinfold.window.window import Window

Make = Callable[[int], Sequence[Data]]


class Record:
    """Reads the whole journal when made: make it off the event loop."""

    def __init__(self, journal: Journal, counter: Counter, wire_api: WireApi) -> None:
        self.journal = journal
        self.state = State()
        self.window = Window()
        self.gauge = Gauge(counter, wire_api)
        self.phase: Phase = "idle"
        self._listeners: list[Callable[[Update], None]] = []
        self._lock = asyncio.Lock()
        for event in journal.read():
            self._step(event)

    def _step(self, event: Event) -> None:
        self.state.step(event)
        self.window.step(event)
        self.gauge.step(event)

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

    async def _write(self, make: Make) -> tuple[Event, ...]:
        async with self._lock:
            events = await asyncio.to_thread(self._commit, make(self.state.last_n + 1))
            for event in events:
                self._step(event)
            for event in events:
                self.tell(Appended(event))
            return events

    def _commit(self, data: Sequence[Data]) -> tuple[Event, ...]:
        events = self.journal.append(*data)
        self.gauge.count_ahead(events)
        return events

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
