"""Every item of a session by its number, whether it is in the window or not."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, overload

import msgspec
from msgspec import Struct

from pinfold.rollout.acts import is_quiet, searches
from pinfold.rollout.events import Event
from pinfold.rollout.items import Item
from pinfold.window.bodies import Bodies, ItemHead, Read

Touch = Literal["read", "edit", "found"]
"""What an item did with a file; a search or a list only found it."""

_PACK = 8_192
"""Heads that are decoded at once; nothing else runs meanwhile."""

_WEIGHT: dict[Touch | None, int] = {"found": 1, "read": 2, "edit": 3}
_NONE: Mapping[str, Touch] = {}

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[ItemHead])


class ArchiveDump(Struct, frozen=True, array_like=True):
    """An archive as plain data, without the bodies."""

    heads: tuple[bytes, ...]
    """In packs."""
    files: dict[int, dict[str, Touch]]
    calls: list[tuple[int, str, int]]
    results: dict[int, int]
    """By call."""


class Archive:
    """Only grows. Bodies can be read from any thread; those not in memory need `read`."""

    def __init__(self, read: Read | None = None) -> None:
        self._heads: dict[int, ItemHead] = {}
        self._bodies = Bodies(self._heads, read)
        self._files: dict[int, dict[str, Touch]] = {}
        self._calls: dict[tuple[int, str], int] = {}
        """The latest call by response and call id: some servers use ids again."""
        self._partners: dict[int, int] = {}
        self._packs: list[bytes] = []
        """The first heads, packed for the dump."""

    def add(self, item: Item, event: Event) -> None:
        """Add an item of `event`."""
        n = item.n
        if n in self._heads:  # only in a damaged rollout
            self._packs.clear()
        self._bodies.add(item)
        self._heads[n] = ItemHead(
            n=n,
            kind=item.kind,
            at=event.ts,
            turn=item.turn,
            response=item.response,
            call_id=item.call_id,
            name=item.name,
            characters=len(item.content),
            lines=item.content.count("\n"),
            quiet=is_quiet(item),
            searches=searches(item),
            offset=event.offset,
            length=event.length,
        )
        if item.call_id is None:
            return
        key = (item.response, item.call_id)
        if item.kind == "tool_call":
            self._calls[key] = n
        elif item.kind == "tool_result" and (call := self._calls.pop(key, None)) is not None:
            self._partners[n], self._partners[call] = call, n

    def concern(self, n: int, path: str, touch: Touch) -> None:
        """Note what item `n` did with the file at `path`; an edit counts for more than a read."""
        files = self._files.get(n, {})
        if _WEIGHT[touch] > _WEIGHT.get(files.get(path), 0):
            self._files[n] = {**files, path: touch}

    def hold(self, numbers: Collection[int]) -> None:
        """Have the bodies of these items in memory, and release those that can be read again.

        Raises `Lost`, `JournalError`.
        """
        self._bodies.hold(numbers)

    def __contains__(self, n: int) -> bool:
        return n in self._heads

    def __getitem__(self, n: int) -> Item:
        return self._bodies[n]

    def get(self, n: int) -> Item | None:
        return self._bodies[n] if n in self._heads else None

    def __len__(self) -> int:
        return len(self._heads)

    def __iter__(self) -> Iterator[int]:
        """The numbers, in the order in which the items came."""
        return iter(self._heads)

    def head(self, n: int) -> ItemHead:
        """What is known of the item without its body."""
        return self._heads[n]

    def at(self, n: int) -> datetime:
        """When the item came."""
        return self._heads[n].at

    def partner(self, n: int) -> int | None:
        """The result of call `n`, or the call of result `n`."""
        return self._partners.get(n)

    def files(self, n: int) -> tuple[str, ...]:
        """The files that item `n` concerns, its other half included."""
        return tuple(self.touches(n))

    def touches(self, n: int) -> Mapping[str, Touch]:
        """The same files, each with what was done with it."""
        own = self._files.get(n, _NONE)
        partner = self._partners.get(n)
        others = self._files.get(partner, _NONE) if partner is not None else _NONE
        return {**others, **own} if own and others else own or others

    # As plain data

    def dump(self) -> ArchiveDump:
        """Quick from the second time on: packed heads are kept."""
        heads = list(self._heads.values())
        while (start := len(self._packs) * _PACK) + _PACK <= len(heads):
            self._packs.append(_encoder.encode(heads[start : start + _PACK]))
        rest = _encoder.encode(heads[start:])
        return ArchiveDump(
            heads=(*self._packs, rest),
            files=dict(self._files),
            calls=[(response, call_id, n) for (response, call_id), n in self._calls.items()],
            results={a: b for a, b in self._partners.items() if a < b},
        )

    def load(self, dump: ArchiveDump) -> None:
        """Restore a dump into an empty archive, without bodies in memory."""
        self._packs = list(dump.heads[:-1])
        for pack in dump.heads:
            self._heads.update((head.n, head) for head in _decoder.decode(pack))
        self._files = dict(dump.files)
        self._calls = {(response, call_id): n for response, call_id, n in dump.calls}
        self._partners = {**dump.results, **{b: a for a, b in dump.results.items()}}


class ArchivedItems(Sequence[Item]):
    """Items of an archive in some order, each read when it is asked for."""

    def __init__(self, archive: Archive, numbers: Sequence[int]) -> None:
        self.archive = archive
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> "ArchivedItems": ...

    def __getitem__(self, index: int | slice) -> "Item | ArchivedItems":
        if isinstance(index, slice):
            return ArchivedItems(self.archive, self.numbers[index])
        return self.archive[self.numbers[index]]

    def heads(self) -> Iterator[ItemHead]:
        """What is known of them without reading any."""
        return map(self.archive.head, self.numbers)
