"""What an agent has said and done, read from its events."""

from collections.abc import Sequence
from pathlib import Path

from pinfold.ports.clock import Clock
from pinfold.rollout.events import Event, ItemAdded, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal


def items_of(event: Event) -> Sequence[Item]:
    match event.data:
        case ItemAdded(item=item):
            return (item,)
        case WindowReplaced(inserted=inserted):
            return inserted
        case _:
            return ()


def events_of(folder: Path, clock: Clock) -> Sequence[Event]:
    with Journal.open(folder, clock.now, read_only=True) as journal:
        return tuple(journal.read())


def last_words(events: Sequence[Event]) -> str:
    """The last text of an agent that was cut off."""
    for event in reversed(events):
        if isinstance(event.data, ItemAdded) and event.data.item.kind == "assistant":
            return event.data.item.content
    return ""
