"""Bodies of items: in memory, or read from the rollout where they are wanted."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache, partial

from msgspec import Struct

from pinfold.rollout.brought import items_of
from pinfold.rollout.events import Event
from pinfold.rollout.items import Item, Kind
from pinfold.rollout.journal import JournalError, Place

Read = Callable[[Iterable[Place]], Iterator[Event]]
"""Reads the events at these places. Raises `JournalError`."""

_REMEMBERED = 256
"""Bodies outside memory that are kept once they were read."""
_LOST = "[#{} can't be read from the rollout any more.]"


class ItemLost(Exception):
    """An item is not where the rollout should have it."""


class ItemHead(Struct, frozen=True, array_like=True, gc=False):
    """What is known of an item without its body."""

    n: int
    kind: Kind
    at: datetime
    """When it came."""
    turn: int
    response: int
    call_id: str | None
    name: str | None
    characters: int
    lines: int
    """Line ends in its text."""
    quiet: bool
    """Whether what a tool printed is for the model, more than for the user."""
    searches: bool
    """Whether the files that it read were only searched."""
    offset: int
    length: int
    """Where the line of its event is in the rollout; length 0 if it is not there."""


class Bodies:
    """The items of `heads`. Any thread may read them."""

    def __init__(self, heads: Mapping[int, ItemHead], read: Read | None) -> None:
        self._heads = heads
        self._read = read
        self._held: dict[int, Item] = {}
        # Not a method: a reference cycle would keep a closed session's items until a collection.
        self._read_again = lru_cache(_REMEMBERED)(partial(_read_one, heads, read))

    def add(self, item: Item) -> None:
        self._held[item.n] = item

    def __getitem__(self, n: int) -> Item:
        item = self._held.get(n)
        return self._read_again(n) if item is None else item

    def hold(self, numbers: Collection[int]) -> None:
        """Have these in memory, and of others only those that can't be read again.

        Raises `Lost`, `JournalError`.
        """
        held = {
            n: item for n, item in self._held.items() if n in numbers or not self._in_rollout(n)
        }
        missing = [self._heads[n] for n in numbers if n not in held]
        missing.sort(key=lambda head: head.offset)
        held.update((item.n, item) for item in _read_all(missing, self._read))
        self._held = held

    def _in_rollout(self, n: int) -> bool:
        return self._read is not None and self._heads[n].length > 0


def _read_one(heads: Mapping[int, ItemHead], read: Read | None, n: int) -> Item:
    head = heads[n]
    try:
        return next(_read_all([head], read))
    except (ItemLost, JournalError):
        return Item(
            n=n,
            kind=head.kind,
            content=_LOST.format(n),
            turn=head.turn,
            response=head.response,
            call_id=head.call_id,
            name=head.name,
            state="unknown",
        )


def _read_all(heads: Collection[ItemHead], read: Read | None) -> Iterator[Item]:
    if read is None:
        raise ItemLost
    events = read((head.offset, head.length) for head in heads)
    for head, event in zip(heads, events, strict=True):
        yield _item_in(event, head.n)


def _item_in(event: Event, n: int) -> Item:
    for item in items_of(event.data):
        if item.n == n:
            return item
    raise ItemLost
