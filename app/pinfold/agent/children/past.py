"""What an agent has said and done, read from its events."""

from collections.abc import Sequence
from pathlib import Path

from pinfold.ports.clock import Clock
from pinfold.rollout.events import Event, ItemAdded, TurnFinished
from pinfold.rollout.journal import Journal


def events_of(folder: Path, clock: Clock) -> Sequence[Event]:
    with Journal.open(folder, clock.now, read_only=True) as journal:
        return tuple(journal.read())


def own(events: Sequence[Event]) -> Sequence[Event]:
    """Those of the agent itself: in a fork of its parent's window older ones come before."""
    return [event for event in events if event.ts >= events[0].ts]


def ended(events: Sequence[Event]) -> bool:
    """Whether it was done when pinfold stopped."""
    turns = (event.data for event in reversed(events) if isinstance(event.data, TurnFinished))
    last = next(turns, None)
    return last is not None and last.state == "done"


def last_words(events: Sequence[Event]) -> str:
    """The last text of an agent that was cut off."""
    for event in reversed(events):
        if isinstance(event.data, ItemAdded) and event.data.item.kind == "assistant":
            return event.data.item.content
    return ""
