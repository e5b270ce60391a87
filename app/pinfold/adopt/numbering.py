"""Numbers the events of an adoption once all are known."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from pinfold.rollout.events import Data, Event, ItemAdded, RequestFinished, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.values import PlanBase


def numbered(
    first: Event, recorded: Sequence[tuple[datetime, Data]], closing: Mapping[int, Item]
) -> tuple[Event, ...]:
    """`first`, then `recorded`, with the item `closing[i]` after event `i` of `recorded`.

    Where data name a seq, they come in with the count of `recorded` events before it.
    """
    found = [first]
    seqs = [first.seq]
    """The seq reached, by how many of the recorded events have gone."""
    for index, (at, data) in enumerate(recorded):
        match data:
            case RequestFinished(through_seq=before):
                data = replace(data, through_seq=seqs[before])  # noqa: PLW2901
            case WindowReplaced(base=base):
                data = replace(data, base=PlanBase(base.generation, seqs[base.seq]))  # noqa: PLW2901
        found.append(Event(found[-1].seq + 1, at, data))
        if index in closing:
            found.append(Event(found[-1].seq + 1, at, ItemAdded(item=closing[index])))
        seqs.append(found[-1].seq)
    return tuple(found)
