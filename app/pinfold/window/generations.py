"""The windows that a session has had, one for each generation."""

from datetime import datetime

from msgspec import Struct

from pinfold.rollout.items import Form, Kind
from pinfold.rollout.values import Sizes
from pinfold.window.forms import unpack
from pinfold.window.overview import first_words
from pinfold.window.refused import Refused
from pinfold.window.window import Boundary, Window


class Generation(Struct, frozen=True):
    """A window, from the event that made it to the one that replaced it."""

    generation: int
    since: datetime | None
    """When it began, the first with its first item; None if the session has no items."""
    reason: str
    """Why the one before was replaced; empty for the first."""
    strategy: str
    tokens: Sizes | None
    """As the change recorded them, if it did."""
    items: int
    """At its end, or now for the last window."""


class WindowItem(Struct, frozen=True):
    """An item of a window."""

    n: int
    kind: Kind
    name: str
    """The tool's, for calls and results."""
    words: str
    """How its text begins, on one line."""
    form: Form


class Difference(Struct, frozen=True):
    """An item whose form differs between two windows."""

    n: int
    kind: Kind
    name: str
    words: str
    before: Form | None
    """Its form in the first window; None where that does not have it."""
    after: Form | None


def generations(window: Window) -> list[Generation]:
    """All windows of the session, oldest first."""
    ends = [*(len(unpack(boundary.before)) for boundary in window.boundaries), len(window)]
    oldest = next(iter(window.archive), None)
    since = None if oldest is None else window.archive.at(oldest)
    return [
        Generation(first_of(window), since, "", "", None, ends[0]),
        *(
            Generation(
                boundary.generation,
                boundary.at,
                boundary.reason,
                boundary.strategy,
                boundary.tokens,
                items,
            )
            for boundary, items in zip(window.boundaries, ends[1:], strict=True)
        ),
    ]


def first_of(window: Window) -> int:
    """The number of the first window; below 0 in a fork, which has it from its parent."""
    return window.boundaries[0].generation - 1 if window.boundaries else window.generation


def change_to(window: Window, generation: int) -> Boundary | None:
    """The change that made that window; None for the first, and where there is no such window."""
    return next((change for change in window.boundaries if change.generation == generation), None)


def standing(window: Window, generation: int) -> list[WindowItem]:
    """The items of a window, in order, as they were at its end. Raises `Refused`."""
    archive = window.archive
    return [
        WindowItem(n, (item := archive[n]).kind, item.name or "", first_words(item, archive), form)
        for n, form in forms_of(window, generation).items()
    ]


def differences(window: Window, one: int, other: int) -> list[Difference]:
    """The items whose form differs between two windows, by number. Raises `Refused`."""
    before, after = forms_of(window, one), forms_of(window, other)
    numbers = [n for n in sorted({**before, **after}) if before.get(n) != after.get(n)]
    archive = window.archive
    items = (archive[n] for n in numbers)
    return [
        Difference(
            item.n,
            item.kind,
            item.name or "",
            first_words(item, archive),
            before.get(n),
            after.get(n),
        )
        for n, item in zip(numbers, items, strict=True)
    ]


def forms_of(window: Window, generation: int) -> dict[int, Form]:
    """The forms of a window's items at its end. Raises `Refused`."""
    known = [first_of(window), *(boundary.generation for boundary in window.boundaries)]
    if generation not in known:
        there = (
            f"there are {known[0]} to {known[-1]}"
            if len(known) > 1
            else f"there is only {known[0]}, the first"
        )
        raise Refused(f"There is no window {generation}: {there}.")
    later = (boundary for boundary in window.boundaries if boundary.generation > generation)
    end = next(later, None)
    return window.forms if end is None else unpack(end.before)
