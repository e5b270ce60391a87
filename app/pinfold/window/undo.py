"""The changes of the window that can be undone, and the events that undo them."""

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from pinfold.rollout.events import (
    NAMES,
    TYPES,
    Data,
    ItemsMarked,
    Pin,
    PinsChanged,
    WindowReplaced,
)
from pinfold.rollout.items import Form
from pinfold.window.pins import named


class Undoable(Struct, frozen=True):
    """A change of the window that can be undone."""

    seq: int
    what: str
    """For the user: `the mask of #12`."""
    event: Data | None
    """Undoes it; None if a window was replaced: that event needs what came since."""


UndoDump = tuple[int, str, str, bytes]
"""An `Undoable` as plain data: seq, what, type and data of the event, both empty without one."""

_OTHERS = frozenset({"adopted", "rewind"})
"""Reasons to replace a window that are not compactions."""


class UndoStack:
    """Folded from events; an undo removes the change it undoes and can't be undone."""

    def __init__(self) -> None:
        self.adopted_through = 0
        """The last event that came with an adopted file: nothing up to it can be undone."""
        self._stack: list[Undoable] = []

    def marks(self, seq: int, marked: ItemsMarked, before: tuple[tuple[int, Form], ...]) -> None:
        if marked.undoes is not None:
            self._take(marked.undoes)
            return
        if marked.adopted:
            return
        numbers = named(n for n, _ in marked.items)
        now = {form for _, form in marked.items}
        verb = {"masked": "mask", "placeholder": "folding"}.get(min(now, default=""), "unfolding")
        undoing = ItemsMarked(items=before, undoes=seq)
        self._push(Undoable(seq, f"the {verb} of {numbers}", undoing))

    def pins(
        self,
        seq: int,
        change: PinsChanged,
        before: tuple[Pin, ...],
        forms: tuple[tuple[int, Form], ...],
    ) -> None:
        """`before` are the pins, `forms` those of its items, as they were."""
        if change.undoes is not None:
            self._take(change.undoes)
            return
        after = dict.fromkeys(pin for pin in before if pin not in change.remove)
        after.update(dict.fromkeys(change.add))
        # All are set again, to keep their old order.
        undoing = PinsChanged(remove=tuple(after), add=before, items=forms, undoes=seq)
        verb, pins = ("pin", change.add) if change.add else ("unpinning", change.remove)
        self._push(Undoable(seq, f"the {verb} of {named(pins)}", undoing))

    def replaced(self, seq: int, replaced: WindowReplaced) -> None:
        if replaced.undoes is not None:
            self._take(replaced.undoes)
        elif replaced.reason in _OTHERS:
            inside = {n for n, _ in replaced.window}
            self._stack = [change for change in self._stack if _reaches(change.event, inside)]
        else:
            what = "the restore" if replaced.reason == "restore" else "the compaction"
            if replaced.reason == "kept":
                what = f"the restore of {named(replaced.why)}"
            self._push(Undoable(seq, what, None))

    def _push(self, undoable: Undoable) -> None:
        if undoable.seq > self.adopted_through:
            self._stack.append(undoable)

    def _take(self, seq: int) -> None:
        self._stack = [change for change in self._stack if change.seq != seq]

    @property
    def newest(self) -> Undoable | None:
        return self._stack[-1] if self._stack else None

    def since(self, seq: int) -> list[Undoable]:
        """The later changes that can be undone, oldest first."""
        return [change for change in self._stack if change.seq > seq]

    def dump(self) -> list[UndoDump]:
        return [(change.seq, change.what, *_packed(change.event)) for change in self._stack]

    def load(self, dump: Iterable[UndoDump]) -> None:
        """Restore a dump. Raises `ValueError`, `KeyError`."""
        self._stack = [
            Undoable(seq, what, msgspec.msgpack.decode(data, type=TYPES[name]) if name else None)
            for seq, what, name, data in dump
        ]


def _reaches(event: Data | None, inside: set[int]) -> bool:
    return not isinstance(event, ItemsMarked) or any(n in inside for n, _ in event.items)


def _packed(event: Data | None) -> tuple[str, bytes]:
    return ("", b"") if event is None else (NAMES[type(event)], msgspec.msgpack.encode(event))
