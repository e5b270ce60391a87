"""The rollout as it lies on the disk, read on while a session writes it."""

from collections.abc import Iterator
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from random import Random

import msgspec

from benchmarks.soak.violated import Violated, check
from pinfold.agent.compaction.window_files import WindowHead, WindowLine, archived
from pinfold.agent.session import Session
from pinfold.rollout.brought import items_of
from pinfold.rollout.events import CoreChanged, Event, GoalSet, Unknown, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.window.refused import Refused

COMPACTED = {"manual", "threshold", "overflow", "model"}
"""Reasons for which a window is replaced by a compaction."""
RECALLED = 6
"""Items of long ago that are read again at each turn."""
_DIGEST = 8
"""Bytes that are kept of an item."""


class Log:
    """What was read of a rollout; of each item a digest alone is kept."""

    def __init__(self, folder: Path) -> None:
        self.items = 0
        self.compactions = 0
        """Windows that were replaced by a compaction."""
        self.goal = ""
        """As the user set it."""
        self.stated: dict[str, None] = {}
        """What the user wrote into the core by hand."""
        self._folder = folder
        self._end = self._seq = 0
        self._digests = bytearray()

    def read_on(self, session: Session) -> None:
        """The new events: whole, in order, and all their items known. Raises `Violated`."""
        for event in self._new():
            for item in items_of(event.data):
                check(session.window.item(item.n) == item, f"item #{item.n} is lost")
            if isinstance(event.data, WindowReplaced) and event.data.reason in COMPACTED:
                self.compactions += 1
                self._check_history(session, event.data)
        check(len(session.window.history) == self.items, "items are lost")

    def resumed_from(self, earlier: "Log") -> None:
        """Read the rollout of a copy: it has what was there. Raises `Violated`."""
        self.compactions = earlier.compactions
        for _ in self._new():
            pass
        check(earlier._digests.startswith(self._digests), "a copy has other items")

    def check_recalled(self, session: Session, rng: Random) -> None:
        """Whatever was said can be brought back to the letter. Raises `Violated`."""
        for _ in range(RECALLED if self.items else 0):
            n = rng.randint(1, self.items)
            item = session.window.item(n)
            kept = self._digests[(n - 1) * _DIGEST : n * _DIGEST]
            check(item is not None and _digest(item) == kept, f"#{n} is not what it was")

    def _new(self) -> Iterator[Event]:
        with reading(self._folder) as journal:
            for event in journal.read(self._end, self._seq):
                check(not isinstance(event.data, Unknown), f"line {event.seq} is damaged")
                check(event.seq == self._seq + 1, f"line {event.seq} follows line {self._seq}")
                self._seq, self._end = event.seq, event.offset + event.length + 1
                for item in items_of(event.data):
                    self.items += 1
                    check(item.n == self.items, f"item #{item.n} is the {self.items}th")
                    self._digests += _digest(item)
                match event.data:
                    case GoalSet(text=text):
                        self.goal = text
                    case CoreChanged(add=add, remove=remove):
                        for gone in remove:
                            self.stated.pop(gone, None)
                        self.stated |= dict.fromkeys(statement.text for statement in add)
                yield event

    def _check_history(self, session: Session, replaced: WindowReplaced) -> None:
        """The window before can be exported in full."""
        generation = replaced.base.generation
        try:
            head, *lines = archived(session._record.window, generation)
        except (Refused, KeyError) as error:
            raise Violated(f"window {generation} can't be exported: {error}") from error
        kept = [msgspec.json.decode(line, type=WindowLine) for line in lines]
        check(msgspec.json.decode(head, type=WindowHead).items == len(kept), "an export is cut off")
        digests = ((_digest(line.item), (line.n - 1) * _DIGEST) for line in kept)
        whole = all(self._digests[at : at + _DIGEST] == digest for digest, at in digests)
        check(whole, f"the export of window {generation} has other items")


def reading(folder: Path) -> Journal:
    return Journal.open(folder, _never, read_only=True)


def _never() -> datetime:
    raise AssertionError("a journal that is only read needs no time")


def _digest(item: Item) -> bytes:
    return blake2b(msgspec.json.encode(item), digest_size=_DIGEST).digest()
