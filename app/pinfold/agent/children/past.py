"""What an agent has said and done, read from its events."""

from collections.abc import Sequence
from pathlib import Path

from pinfold.ports.clock import Clock
from pinfold.rollout.events import Event, ItemAdded
from pinfold.rollout.journal import Journal


def events_of(folder: Path, clock: Clock) -> Sequence[Event]:
    with Journal.open(folder, clock.now, read_only=True) as journal:
        return tuple(journal.read())


def last_words(events: Sequence[Event]) -> str:
    """The last text of an agent that was cut off."""
    for event in reversed(events):
        if isinstance(event.data, ItemAdded) and event.data.item.kind == "assistant":
            return event.data.item.content
    return ""
