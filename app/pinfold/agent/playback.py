"""A recording, written down again event by event at its own pace: the window and the gauge come
out as they were, whoever recorded it."""

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from pinfold.agent.record import Record
from pinfold.agent.updates import Streamed
from pinfold.ports import CallDelta, Clock, Delta, ReasoningDelta, TextDelta
from pinfold.rollout.events import (
    Data,
    Event,
    ItemAdded,
    PromptQueued,
    PromptUnqueued,
    RequestFinished,
    SessionStarted,
    Unknown,
    WindowCounted,
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
    record.enter("requesting")
    if not speed:
        for at in range(0, len(played), _BATCH):
            shift = record.state.seq + 1 - played[at].seq
            batch = played[at : at + _BATCH]
            await record.append(*(_moved(event.data, shift) for event in batch))
        return
    before = played[0].ts if played else None
    for event in played:
        seconds = min((event.ts - (before or event.ts)).total_seconds(), _LONGEST)
        before = event.ts
        if isinstance(event.data, ItemAdded):
            await _lead_up(record, event.data.item, clock, seconds / speed, _READING / speed)
        await record.append(_moved(event.data, record.state.seq + 1 - event.seq))


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


def _moved(data: Data, shift: int) -> Data:
    """`data` as it reads `shift` events further on."""
    match data:
        case RequestFinished() | WindowCounted():
            return replace(data, through_seq=data.through_seq + shift)
        case _:
            undoes = getattr(data, "undoes", None)
            return data if undoes is None else replace(data, undoes=undoes + shift)
