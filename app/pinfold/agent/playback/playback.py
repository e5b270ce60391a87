"""Plays a recording into a session at its own pace: the window and the gauge come out as recorded,
or as other compactions would have made them."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from pinfold.agent.playback.retelling import Retelling
from pinfold.agent.playback.rounds import Round, round_of
from pinfold.agent.record import Record
from pinfold.agent.updates import Streamed
from pinfold.ports.clock import Clock
from pinfold.ports.provider import CallDelta, Delta, ReasoningDelta, TextDelta
from pinfold.rollout.events import (
    Event,
    ItemAdded,
    PromptQueued,
    PromptUnqueued,
    SessionStarted,
    Unknown,
    WindowReplaced,
)
from pinfold.rollout.items import Form, Item
from pinfold.rollout.values import is_compaction
from pinfold.window.reading import GaugeReading

_LONGEST = 5.0
"""Seconds that a recorded wait takes at most."""
_READING = 1.2
"""Seconds before a prompt, in which the reply before it is read."""
_BATCH = 200
"""Events that are written at once where nothing is waited for."""
_SKIPPED = (SessionStarted, PromptQueued, PromptUnqueued, Unknown)
"""What belongs to the session that was recorded alone."""
_ANSWERS = frozenset({"assistant", "reasoning", "tool_call"})
"""Kinds with which a response begins."""
_WORD = re.compile(r"\s*\S{1,16}|\s+")


class Playback:
    """Plays a recording into a record."""

    def __init__(
        self,
        record: Record,
        events: Sequence[Event],
        clock: Clock,
        reading: Callable[[], GaugeReading],
        compact: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        """`compact` is called before each recorded request and returns whether it compacted; with
        it the recorded compactions are left out."""
        self.rounds: list[Round] = []
        """The compactions, recorded or not."""
        self._record = record
        self._events = [event for event in events if not isinstance(event.data, _SKIPPED)]
        self._clock = clock
        self._reading = reading
        self._compact = compact
        starts = (event.data for event in events if isinstance(event.data, SessionStarted))
        foreign = any(started.adopted for started in starts)
        self._retelling = Retelling(record, own=compact is not None, foreign=foreign)

    async def play(self, speed: float) -> None:
        """Append the events; `speed` 2 plays twice as fast, 0 without any wait.

        Cancel it to stop. Raises `JournalError`.
        """
        played = self._events
        self._record.enter("requesting")
        batch: list[Event] = []
        response = 0
        before = played[0].ts if played else None
        for event in played:
            data = event.data
            if self._compact is not None and isinstance(data, ItemAdded):
                item = data.item
                if item.response > response and item.kind in _ANSWERS:
                    await self._append(batch)
                    await self._check(self._compact)
                response = max(response, item.response)
            if speed:
                seconds = min((event.ts - (before or event.ts)).total_seconds(), _LONGEST)
                before = event.ts
                if isinstance(data, ItemAdded):
                    await self._lead_up(data.item, seconds / speed, _READING / speed)
            if isinstance(data, WindowReplaced):
                await self._append(batch)
                await self._replace(event)
                continue
            batch.append(event)
            if speed or len(batch) == _BATCH:
                await self._append(batch)
        await self._append(batch)

    async def _append(self, batch: list[Event]) -> None:
        if batch:
            await self._retelling.append(batch)
            batch.clear()

    async def _replace(self, event: Event) -> None:
        """Play a recorded window, unless it is left out."""
        forms, before = self._record.window.forms, self._reading()
        generation = self._record.window.generation
        await self._retelling.append([event])
        window = self._record.window
        if window.generation != generation and is_compaction(window.boundaries[-1].reason):
            self._add_round(forms, before)

    async def _check(self, compact: Callable[[], Awaitable[bool]]) -> None:
        forms, before = self._record.window.forms, self._reading()
        if await compact():
            self._retelling.diverged = True
            self._add_round(forms, before)

    def _add_round(self, forms: Mapping[int, Form], before: GaugeReading) -> None:
        window = self._record.window
        made = window.boundaries[-1]
        self.rounds.append(round_of(forms, before, window, self._reading(), made))

    async def _lead_up(self, item: Item, seconds: float, reading: float) -> None:
        """Before an item: stream it, or wait for it."""
        record, clock = self._record, self._clock
        if item.kind == "user":
            record.enter("idle")
            await clock.sleep(reading)
            record.enter("requesting")
            return
        deltas = list(_deltas(item))
        start, whole = clock.monotonic(), len(deltas)
        if item.kind == "tool_result":
            record.enter("tools")
            await _until(clock, start + seconds)
        for count, delta in enumerate(deltas, 1):
            record.enter("streaming")
            record.tell(Streamed(delta))
            await _until(clock, start + seconds * count / whole)


async def _until(clock: Clock, at: float) -> None:
    if (wait := at - clock.monotonic()) > 0:
        await clock.sleep(wait)


def _deltas(item: Item) -> Iterator[Delta]:
    for piece in _WORD.findall(item.content):
        match item.kind:
            case "assistant":
                yield TextDelta(piece)
            case "reasoning":
                yield ReasoningDelta(piece)
            case "tool_call":
                yield CallDelta(0, item.name or "", piece)
