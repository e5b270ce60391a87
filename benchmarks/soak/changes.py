"""What must hold of every change of the window."""

from collections import Counter as Tally
from typing import Literal

from benchmarks.soak.log import COMPACTED
from benchmarks.soak.violated import check
from pinfold.rollout.events import Event, ItemsMarked, Pin, PinsChanged, WindowReplaced
from pinfold.rollout.items import Form
from pinfold.window.forms import Packed, pack, unpack
from pinfold.window.window import Window

REMEMBERED = 500
"""Changes, the newest, whose undoing is checked."""
REASSERTING = {"checkpoint", "layered", "handoff"}
"""Strategies whose windows hold the user's own words anew."""

ROOMY = 1_200
"""Tokens of headroom with which there was room for these: what is asked for, and the core."""

Was = tuple[Packed, tuple[Pin, ...]]
"""A window's items with their forms, and its pins."""


class Changes:
    """Hears of every event, and holds the window that it left against the one before."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._now = self._look()
        self._before: dict[int, Was] = {}
        """By the event that changed it."""
        self._since_request: Tally[str] = Tally()
        """Compactions by reason."""

    def sent(self) -> None:
        """A request went out."""
        self._since_request.clear()

    def hear(self, event: Event, goal: str, stated: tuple[str, ...]) -> None:
        """`goal` and `stated` are the user's own words, as of then. Raises `Violated`."""
        was, self._now = self._now, self._look()
        match event.data:
            case WindowReplaced() as replaced:
                self._check_generation(replaced)
                if replaced.undoes is not None:
                    self._check_back(replaced)
                    return
                if replaced.reason in COMPACTED:
                    self._check_compacted(replaced, unpack(was[0]), goal, stated)
            case ItemsMarked(items=items, undoes=undone) | PinsChanged(items=items, undoes=undone):
                self._check_marked(was, {n for n, _ in items})
                if undone is not None:
                    self._check_taken_back(undone, {n for n, _ in items}, event)
                    return
            case _:
                return
        self._before[event.seq] = was
        if len(self._before) > REMEMBERED:
            del self._before[next(iter(self._before))]

    def _look(self) -> Was:
        return pack(self._window.forms), tuple(self._window.pins)

    def _check_generation(self, replaced: WindowReplaced) -> None:
        before = [0, *(boundary.generation for boundary in self._window.boundaries)][-2]
        now = replaced.generation
        check(now == before + 1 == self._window.generation, f"window {now} follows {before}")

    def _check_compacted(
        self, replaced: WindowReplaced, was: dict[int, Form], goal: str, stated: tuple[str, ...]
    ) -> None:
        """What is pinned stays as it was; the user's words stand there."""
        window, now = self._window, self._window.forms
        if replaced.reason != "manual":
            self._since_request[replaced.reason] += 1
            often = self._since_request[replaced.reason] > 1
            check(not often, f"two compactions by {replaced.reason} before one request")
        for pin in window.pins:
            for n in _held(window, was, pin) & was.keys():
                changed = f"{was[n]} to {now.get(n)}: #{n}, pinned by {pin}"
                check(now.get(n) == was[n], f"a compaction changed from {changed}")
        if replaced.strategy in REASSERTING and replaced.meta["headroom"] >= ROOMY:
            sent = "\n".join(shown.item.content for shown in window.shown)
            for words in (goal, *stated):
                check(words in sent, f"a compaction by {replaced.strategy} lost “{words}”")

    def _check_marked(self, was: Was, changed: set[int]) -> None:
        """Marks change no others, and take no pinned item away."""
        before, now = unpack(was[0]), self._window.forms
        check(list(before) == list(now), "a mark changed which items there are")
        others = all(now[n] == form for n, form in before.items() if n not in changed)
        check(others, "a mark changed other items")

    def _check_taken_back(self, seq: int, changed: set[int], event: Event) -> None:
        """Marks and pins are as before the change of event `seq`."""
        if (was := self._before.pop(seq, None)) is None:
            return
        before, now = unpack(was[0]), self._window.forms
        same = all(now[n] == before[n] for n in changed & before.keys() & now.keys())
        check(same, f"undoing {seq} left items otherwise")
        if isinstance(event.data, PinsChanged):
            check(self._now[1] == was[1], f"undoing {seq} left other pins")

    def _check_back(self, replaced: WindowReplaced) -> None:
        """The window before the compaction stands again, without what that inserted."""
        assert replaced.undoes is not None
        if (was := self._before.pop(replaced.undoes, None)) is None:
            return
        before, now = list(unpack(was[0])), self._window.forms
        check([n for n in now if n in set(before)] == before, "undoing lost items")
        undone = next(e for e in self._window.boundaries if e.seq == replaced.undoes)
        check(now.keys().isdisjoint(undone.inserted), "undoing left what was inserted")


def _held(window: Window, was: dict[int, Form], pin: Pin) -> set[int]:
    """A call and its result; of a file, which a glob without stars names, its newest read and
    edit."""
    if isinstance(pin, int):
        return {pin, window.partner(pin) or pin}
    found: dict[Literal["found", "read", "edit"], int] = {}
    for n in sorted(was):
        if touch := window.archive.touches(n).get(pin):
            found[touch] = n
    return {n for touch, n in found.items() if touch != "found" and was[n] == "full"}
