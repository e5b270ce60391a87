"""A recording, written down again event by event at its own pace: the window and the gauge come
out as they were, whoever recorded it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from pinfold.agent.record import Record
from pinfold.agent.updates import Streamed
from pinfold.ports import CallDelta, Clock, Delta, ReasoningDelta, TextDelta
from pinfold.rollout.events import (
    Data,
    Event,
    ItemAdded,
    ItemsMarked,
    PinsChanged,
    PromptQueued,
    PromptUnqueued,
    RequestFinished,
    SessionStarted,
    Unknown,
    WindowCounted,
    WindowReplaced,
)
from pinfold.rollout.items import Item

_LONGEST = 5.0
"""Seconds that a recorded wait takes at most."""
_READING = 1.2
"""Seconds before a prompt, in which the reply before it is read."""
_BATCH = 200
"""Events that are written at once where nothing is waited for."""
_SKIPPED = (SessionStarted, PromptQueued, PromptUnqueued, Unknown)
"""What belongs to the session that was recorded alone."""
_WORD = re.compile(r"\s*\S{1,16}|\s+")


async def play(record: Record, events: Sequence[Event], clock: Clock, speed: float) -> None:
    """Append the events; `speed` 2 plays twice as fast, 0 without any wait.

    Cancel it to stop. Raises `JournalError`.
    """
    played = [event for event in events if not isinstance(event.data, _SKIPPED)]
    seqs = _Seqs(record)
    record.enter("requesting")
    if not speed:
        for at in range(0, len(played), _BATCH):
            await seqs.append(played[at : at + _BATCH])
        return
    before = played[0].ts if played else None
    for event in played:
        seconds = min((event.ts - (before or event.ts)).total_seconds(), _LONGEST)
        before = event.ts
        if isinstance(event.data, ItemAdded):
            await _lead_up(record, event.data.item, clock, seconds / speed, _READING / speed)
        await seqs.append([event])


async def _lead_up(
    record: Record, item: Item, clock: Clock, seconds: float, reading: float
) -> None:
    """What is seen before an item stands there: it streams, or one waits for it."""
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


class _Seqs:
    """Where the recording's events stand in the record: what names one must name it there."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._recorded: list[int] = []
        self._played: list[int] = []

    async def append(self, events: Sequence[Event]) -> None:
        await self._record.add(lambda _: [self._moved(event) for event in events])

    def _moved(self, event: Event) -> Data:
        data = event.data
        match data:
            case RequestFinished() | WindowCounted():
                data = replace(data, through_seq=self._of(data.through_seq))
            case PinsChanged() | ItemsMarked() | WindowReplaced() if data.undoes is not None:
                data = replace(data, undoes=self._of(data.undoes))
        before = self._played[-1] if self._played else 0
        self._recorded.append(event.seq)
        self._played.append(max(before, self._record.state.seq) + 1)
        return data

    def _of(self, seq: int) -> int:
        """The event itself, or the last one before it that was not left out."""
        at = bisect_right(self._recorded, seq)
        return self._played[at - 1] if at else 0
