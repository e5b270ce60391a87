"""The items that an event adds to a session."""

from pinfold.rollout.events import Data, ItemAdded, WindowReplaced
from pinfold.rollout.items import Item


def items_of(data: Data) -> tuple[Item, ...]:
    """The item that was added, or what a compaction inserted; none of any other event."""
    match data:
        case ItemAdded(item=item):
            return (item,)
        case WindowReplaced(inserted=inserted):
            return inserted
        case _:
            return ()
