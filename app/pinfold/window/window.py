"""The window: the ordered items that the next request carries, folded from events."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct

from pinfold.rollout.events import (
    ArtifactObserved,
    Event,
    ItemAdded,
    ItemsMarked,
    Pin,
    PinsChanged,
    SessionStarted,
    WindowReplaced,
)
from pinfold.rollout.items import WRITTEN, Form, Item
from pinfold.rollout.values import AdoptedFrom, Sizes
from pinfold.window.archive import Archive, ArchiveDump, Touch
from pinfold.window.bodies import Read
from pinfold.window.forms import Packed, pack
from pinfold.window.pins import Pins
from pinfold.window.show import Shown, body, is_sent, show
from pinfold.window.undo import UndoDump, UndoStack


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where one window ended and the next began."""

    generation: int
    last: int
    """The last item that the earlier window had seen."""
    at: datetime
    reason: str
    strategy: str
    tokens: Sizes | None
    """Tokens of the request before and after; of the items alone if its context is not known."""
    before: Packed = b""
    """The forms of the earlier window."""
    inserted: tuple[int, ...] = ()
    """The items that came with the next."""
    seq: int = 0
    """The event that replaced it."""
    undone: str = ""
    """The reason of the replacement that this one undoes."""


class WindowDump(Struct, frozen=True, array_like=True):
    """A window as plain data, without the bodies of its items."""

    archive: ArchiveDump
    pins: tuple[Pin, ...]
    generation: int
    seq: int
    changed_seq: int
    revision: int
    undo: list[UndoDump]
    adopted_through: int
    boundaries: list[Boundary]
    forms: dict[int, Form]
    open: list[int]
    held: set[int]


class Window:
    """A projection: `step` mutates it, readers take what they need."""

    def __init__(self, read: Read | None = None) -> None:
        """`read` reads bodies from the rollout; without it, all are kept in memory."""
        self.archive = Archive(read)
        self.pins = Pins()
        self.generation = 0
        self.seq = 0
        self.changed_seq = 0
        """The last event that changed what may have been sent already, not only added to it."""
        self.revision = 0
        """Incremented by each change other than an item at the end."""
        self.undo = UndoStack()
        self.boundaries: list[Boundary] = []
        self._forms: dict[int, Form] = {}
        """The window's items, in order."""
        self._open: dict[tuple[int, str], Item] = {}
        self._held: set[int] = set()
        self._shown: list[Shown] | None = []

    def step(self, event: Event) -> None:
        self.seq = event.seq
        match event.data:
            case SessionStarted(adopted=AdoptedFrom(through=through)):
                self.undo.adopted_through = through
            case ItemAdded(item=item):
                self._add(item, event)
            case ArtifactObserved(kind="file", uri=uri, op=op, item=n) if n is not None:
                self.archive.concern(n, uri, self._touch(n, op))
                both = [number for number in (n, self.archive.partner(n)) if number in self._forms]
                if not all(is_sent(number, self._forms, self.archive) for number in both):
                    self._changed()  # a placeholder names files
                if self.pins.globs:
                    self._hold(*both)
            case PinsChanged() as change:
                before = tuple(self.pins)
                self.pins.step(change)
                self._hold_all()
                self.revision += 1
                self.undo.pins(event.seq, change, before, self._mark(change.items))
            case ItemsMarked(items=items) as marked:
                self.undo.marks(event.seq, marked, self._mark(items))
            case WindowReplaced() as replaced:
                self._replace(replaced, event)

    def _add(self, item: Item, event: Event) -> None:
        shown = self.shown
        again = item.n in self._forms  # only in a damaged rollout
        self.archive.add(item, event)
        self._forms[item.n] = "full"
        if item.call_id is not None:
            key = (item.response, item.call_id)
            if item.kind == "tool_call":
                self._open[key] = item
            elif item.kind == "tool_result":
                self._open.pop(key, None)
        if not again and self._joins_the_end(item, shown):
            shown.append(body(item.n, "full", self.archive))
        else:
            self._changed()
        if self.pins:
            self._hold(item.n, self.archive.partner(item.n))

    def _mark(self, items: Iterable[tuple[int, Form]]) -> tuple[tuple[int, Form], ...]:
        """Set the forms of items in the window; returns those that they had."""
        inside = [(n, form) for n, form in items if n in self._forms]
        before = tuple((n, self._forms[n]) for n, _ in inside)
        if inside:
            self._forms.update(inside)
            self._changed()
        return before

    def _touch(self, n: int, op: str) -> Touch:
        """What item `n` did with a file; a search finds it and does not read it."""
        if op not in ("read", "list"):
            return "edit"
        searched = n in self.archive and self.archive.head(n).searches
        return "found" if op == "list" or searched else "read"

    def _joins_the_end(self, item: Item, shown: Sequence[Shown]) -> bool:
        """Whether a new item is sent after all others; else it belongs before a placeholder."""
        last = shown[-1] if shown else None
        if last is not None and last.form == "placeholder" and item.kind in WRITTEN:
            folded = self.archive[last.stands_for[-1]]
            if folded.kind in WRITTEN and folded.response == item.response:
                return False
        return is_sent(item.n, self._forms, self.archive)

    def _replace(self, replaced: WindowReplaced, event: Event) -> None:
        last = max(self.archive, default=0)
        for item in replaced.inserted:
            self.archive.add(item, event)
        self.undo.replaced(event.seq, replaced)
        earlier = {boundary.seq: boundary.reason for boundary in self.boundaries}
        undone = "" if replaced.undoes is None else earlier.get(replaced.undoes, "")
        before = pack(self._forms)
        self.generation = replaced.generation
        self._forms = {n: form for n, form in replaced.window if n in self.archive}
        self._open = {key: call for key, call in self._open.items() if call.n in self._forms}
        self._hold_all()
        self._changed()
        self.boundaries.append(
            Boundary(
                replaced.generation,
                last,
                event.ts,
                replaced.reason,
                replaced.strategy,
                _whole(replaced),
                before,
                tuple(item.n for item in replaced.inserted),
                event.seq,
                undone,
            )
        )

    def _changed(self) -> None:
        self._shown = None
        self.changed_seq = self.seq
        self.revision += 1

    def _hold_all(self) -> None:
        self._held.clear()
        if self.pins:
            self._hold(*self._forms)

    def _hold(self, *numbers: int | None) -> None:
        for n in numbers:
            if n in self._forms and n not in self._held and self.pin_on(n) is not None:
                self._held.add(n)
                self.revision += 1

    def pin_on(self, n: int, pins: Pins | None = None) -> Pin | None:
        """The pin on item `n`: on itself, its other half, or a file of theirs."""
        partner = self.archive.partner(n)
        numbers = (n,) if partner is None else (n, partner)
        return (self.pins if pins is None else pins).over(numbers, self.archive.files(n))

    # What the model sees

    @property
    def items(self) -> tuple[Item, ...]:
        """The window as the next request carries it, placeholders in place."""
        return tuple(shown.item for shown in self.shown)

    @property
    def shown(self) -> list[Shown]:
        if self._shown is None:
            self._shown = list(show(self._forms, self.archive))
        return self._shown

    def preview(self, changes: Iterable[tuple[int, Form]]) -> list[Shown]:
        """What the model would see after `changes`."""
        return list(show({**self._forms, **dict(changes)}, self.archive))

    def item(self, n: int) -> Item | None:
        """Any item of the session."""
        return self.archive.get(n)

    def partner(self, n: int) -> int | None:
        """The result of call `n`, or the call of result `n`."""
        return self.archive.partner(n)

    def hidden(self) -> list[int]:
        """The items that the model does not see in full, oldest first."""
        return [n for n in self.archive if self._forms.get(n) != "full"]

    @property
    def open_calls(self) -> tuple[Item, ...]:
        """Calls without a result. A request may not carry one."""
        return tuple(self._open.values())

    # What the user sees

    @property
    def forms(self) -> dict[int, Form]:
        """The window's items in order, each with its form."""
        return dict(self._forms)

    def form(self, n: int) -> Form | None:
        """The form of item `n` in the window; None if it is not there."""
        return self._forms.get(n)

    def is_pinned(self, n: int) -> bool:
        return n in self._held

    def __len__(self) -> int:
        return len(self._forms)

    # As plain data

    def dump(self) -> WindowDump:
        return WindowDump(
            archive=self.archive.dump(),
            pins=tuple(self.pins),
            generation=self.generation,
            seq=self.seq,
            changed_seq=self.changed_seq,
            revision=self.revision,
            undo=self.undo.dump(),
            adopted_through=self.undo.adopted_through,
            boundaries=list(self.boundaries),
            forms=dict(self._forms),
            open=[call.n for call in self._open.values()],
            held=set(self._held),
        )

    def load(self, dump: WindowDump) -> None:
        """Become, from new, what was dumped. Raises `Lost`, `JournalError`."""
        self.archive.load(dump.archive)
        self.archive.hold(dump.forms)
        self.pins = Pins(dump.pins)
        self.generation, self.seq = dump.generation, dump.seq
        self.changed_seq, self.revision = dump.changed_seq, dump.revision
        self.undo.load(dump.undo)
        self.undo.adopted_through = dump.adopted_through
        self.boundaries = list(dump.boundaries)
        self._forms = dict(dump.forms)
        calls = (self.archive[n] for n in dump.open)
        self._open = {(call.response, call.call_id): call for call in calls if call.call_id}
        self._held = set(dump.held)
        self._shown = None

    def settle(self) -> None:
        """Have the window's bodies in memory, and no others. Raises `Lost`, `JournalError`."""
        self.archive.hold(self._forms)


def _whole(replaced: WindowReplaced) -> Sizes | None:
    """The tokens of the request that carried each window."""
    sizes, context = replaced.tokens, replaced.meta.get("context")
    if sizes is None or not isinstance(context, int):
        return sizes
    return Sizes(context + sizes.before, context + sizes.after)
