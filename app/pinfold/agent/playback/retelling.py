"""Writes a recording's events with the numbers of the record that it is played into."""

from bisect import bisect_right
from collections.abc import Sequence

from msgspec.structs import replace

from pinfold.agent.record import Record
from pinfold.rollout.events import (
    ArtifactObserved,
    CompactionFinished,
    Data,
    Event,
    ItemAdded,
    ItemsMarked,
    MemoryApplied,
    PinsChanged,
    RequestFinished,
    WindowCounted,
    WindowReplaced,
)
from pinfold.rollout.items import Form, Item
from pinfold.rollout.memory import Memory
from pinfold.rollout.values import PlanBase


class Retelling:
    """Translates the numbers of events and items."""

    def __init__(self, record: Record, *, own: bool, foreign: bool) -> None:
        """`own` leaves the recorded compactions out, for others to take their place; `foreign`
        tells that another tool made them."""
        self.diverged = False
        """Whether the window is another than the recorded one by now."""
        self._record = record
        self._own = own
        self._foreign = foreign
        self._recorded: list[int] = []
        self._played: list[int] = []
        self._left_out: set[int] = set()
        self._numbers: dict[int, int] = {}
        """Of the recorded items, those that they have here."""
        self._next = 0
        self._stood: set[int] = set()
        """The items of the recorded window."""
        self._left_behind: set[int] = set()
        """Items that the user went back behind, as they are numbered here."""

    async def append(self, events: Sequence[Event]) -> None:
        """Write them. A `WindowReplaced` comes alone: it is made from the current window."""

        def make(n: int) -> list[Data]:
            self._next = n
            told = (self._as_played(event) for event in events)
            return [data for data in told if data is not None]

        await self._record.add(make)

    def _as_played(self, event: Event) -> Data | None:
        data = self._without(event) if self._own else event.data
        if data is None:
            return None
        match data:
            case RequestFinished() | WindowCounted():
                data = replace(data, through_seq=self._played_seq(data.through_seq))
            case PinsChanged() | ItemsMarked() | WindowReplaced() if data.undoes is not None:
                data = replace(data, undoes=self._played_seq(data.undoes))
        before = self._played[-1] if self._played else 0
        self._recorded.append(event.seq)
        self._played.append(max(before, self._record.state.seq) + 1)
        return data

    def _played_seq(self, seq: int) -> int:
        """The number of the event, or of the last one before it that was not left out."""
        at = bisect_right(self._recorded, seq)
        return self._played[at - 1] if at else 0

    # Without the recorded compactions

    def _without(self, event: Event) -> Data | None:
        """The event without the recorded compactions; None if it belongs to one."""
        data = event.data
        match data:
            case ItemAdded(item=item):
                self._stood.add(item.n)
                return ItemAdded(item=self._renumbered(item))
            case WindowReplaced(reason="rewind"):
                return self._rewound(data)
            case WindowReplaced(window=window):
                self._stood = {n for n, _ in window}
                self.diverged = True
                return None
            case RequestFinished(purpose="compaction") | CompactionFinished():
                return None
            case RequestFinished() if self.diverged:
                return replace(data, usage=None)  # it tells of another window
            case WindowCounted() if self.diverged:
                return None
            case ItemsMarked():
                return self._marked(event.seq, data)
            case PinsChanged(add=add, remove=remove, items=items):
                return replace(
                    data, add=self._pins(add), remove=self._pins(remove), items=self._forms(items)
                )
            case ArtifactObserved(item=n) if n is not None:
                return replace(data, item=self._numbers.get(n))
            case MemoryApplied(memory=memory):
                return MemoryApplied(memory=self._cited(memory))
            case _:
                return data

    def _renumbered(self, item: Item) -> Item:
        self._numbers[item.n] = self._next
        self._next += 1
        return replace(item, n=self._numbers[item.n])

    def _rewound(self, data: WindowReplaced) -> WindowReplaced:
        """A rewind removes the same items here, and brings the same ones back."""
        known, window = self._numbers, self._record.window
        stays = [n for n, _ in data.window]
        gone = {known[n] for n in self._stood.difference(stays) if n in known}
        back = [known[n] for n in stays if known.get(n) in self._left_behind]
        self._stood = set(stays)
        self._left_behind = (self._left_behind | gone).difference(back)
        left = [(n, form) for n, form in window.forms.items() if n not in gone]
        return replace(
            data,
            generation=window.generation + 1,
            base=PlanBase(window.generation, window.seq),
            window=(*left, *((n, "full") for n in back)),
            inserted=(),
        )

    def _marked(self, seq: int, data: ItemsMarked) -> ItemsMarked | None:
        """Leave out the masks of a foreign tool: they are its compactions."""
        masks = self._foreign and any(form == "masked" for _, form in data.items)
        if masks or data.undoes in self._left_out:
            self._left_out.add(seq)
            self.diverged = True
            return None
        return replace(data, items=self._forms(data.items))

    def _forms(self, items: Sequence[tuple[int, Form]]) -> tuple[tuple[int, Form], ...]:
        known = self._numbers
        return tuple((known[n], form) for n, form in items if n in known)

    def _pins(self, pins: Sequence[int | str]) -> tuple[int | str, ...]:
        known = self._numbers
        named = (known.get(pin) if isinstance(pin, int) else pin for pin in pins)
        return tuple(pin for pin in named if pin is not None)

    def _cited(self, memory: Memory) -> Memory:
        evidence = memory.evidence
        number = evidence.ref.removeprefix("#")
        if evidence.source != "user" or not number.isdecimal():
            return memory
        ref = f"#{self._numbers.get(int(number), 0)}"
        return replace(memory, evidence=replace(evidence, ref=ref))
