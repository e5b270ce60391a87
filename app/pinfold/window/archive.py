"""Every item of a session by its number, whether it stands in the window or not."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import overload

import msgspec
from msgspec import Struct

from pinfold.rollout.events import Event
from pinfold.rollout.items import Item
from pinfold.window.bodies import Bodies, Head, Read

_PACK = 8_192
"""Heads that are decoded at a stretch: nothing else gets its turn meanwhile."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[Head])


class ArchiveDump(Struct, frozen=True, array_like=True):
    """An archive as plain data, without the bodies."""

    heads: tuple[bytes, ...]
    """In packs."""
    files: dict[int, tuple[str, ...]]
    calls: list[tuple[int, str, int]]
    results: dict[int, int]
    """By call."""


class Archive:
    """Grows only. Bodies are read from any thread; outside of memory they need `read`."""

    def __init__(self, read: Read | None = None) -> None:
        self._heads: dict[int, Head] = {}
        self._bodies = Bodies(self._heads, read)
        self._files: dict[int, tuple[str, ...]] = {}
        self._calls: dict[tuple[int, str], int] = {}
        """The latest call by response and call id: some servers use ids again."""
        self._partners: dict[int, int] = {}
        self._packs: list[bytes] = []
        """The first heads, as they are dumped."""

    def add(self, item: Item, event: Event) -> None:
        """Take an item that `event` brought."""
        n = item.n
        if n in self._heads:  # only in a damaged rollout
            self._packs.clear()
        self._bodies.add(item)
        self._heads[n] = Head(
            n=n,
            kind=item.kind,
            at=event.ts,
            turn=item.turn,
            response=item.response,
            call_id=item.call_id,
            name=item.name,
            characters=len(item.content),
            lines=item.content.count("\n"),
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

    def concern(self, n: int, path: str) -> None:
        """Item `n` read or changed the file at `path`."""
        files = self._files.get(n, ())
        if path not in files:
            self._files[n] = (*files, path)

    def hold(self, numbers: Collection[int]) -> None:
        """Have the bodies of these items in memory, and let go of those that can be read again.

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

    def head(self, n: int) -> Head:
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
        own = self._files.get(n, ())
        partner = self._partners.get(n)
        others = self._files.get(partner, ()) if partner is not None else ()
        return tuple(dict.fromkeys((*own, *others))) if own and others else own or others

    # As plain data

    def dump(self) -> ArchiveDump:
        """Quick from the second time on: what was packed stays so."""
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
        """Become, from empty, what was dumped; no body is in memory then."""
        self._packs = list(dump.heads[:-1])
        for pack in dump.heads:
            self._heads.update((head.n, head) for head in _decoder.decode(pack))
        self._files = dict(dump.files)
        self._calls = {(response, call_id): n for response, call_id, n in dump.calls}
        self._partners = {**dump.results, **{b: a for a, b in dump.results.items()}}


class Items(Sequence[Item]):
    """Items of an archive in some order, each read when it is asked for."""

    def __init__(self, archive: Archive, numbers: Sequence[int]) -> None:
        self.archive = archive
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> "Items": ...

    def __getitem__(self, index: int | slice) -> "Item | Items":
        if isinstance(index, slice):
            return Items(self.archive, self.numbers[index])
        return self.archive[self.numbers[index]]

    def heads(self) -> Iterator[Head]:
        """What is known of them without reading any."""
        return map(self.archive.head, self.numbers)
