"""The windows that a session has had, one for each generation."""

from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from pinfold.rollout.items import Form, Kind
from pinfold.rollout.values import Sizes
from pinfold.window.forms import unpack
from pinfold.window.overview import first_words
from pinfold.window.refused import Refused
from pinfold.window.window import Window


class Generation(Struct, frozen=True):
    """A window, from the event that made it to the one that replaced it."""

    generation: int
    since: datetime | None
    """The first began with its first item; none where there is none."""
    reason: str
    """Why the one before was replaced; empty for the first."""
    strategy: str
    tokens: Sizes | None
    """As its boundary has them; none where the change told none."""
    items: int
    """At its end; of the last one, now."""


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
    """An item that is not in two windows alike."""

    n: int
    kind: Kind
    name: str
    words: str
    before: Form | None
    """How it is in the one; none where it does not."""
    after: Form | None


def generations(window: Window) -> list[Generation]:
    """All of them, oldest first."""
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
    """The number of the first; a fork has it from its parent, and it is below 0."""
    return window.boundaries[0].generation - 1 if window.boundaries else window.generation


def standing(window: Window, generation: int) -> list[WindowItem]:
    """The items of one, in order, as they was at its end. Raises `Refused`."""
    archive = window.archive
    return [
        WindowItem(n, (item := archive[n]).kind, item.name or "", first_words(item), form)
        for n, form in forms_of(window, generation).items()
    ]


def differences(window: Window, one: int, other: int) -> list[Difference]:
    """What is not in both alike, by number. Raises `Refused`."""
    return list(_differences(window, one, other))


def _differences(window: Window, one: int, other: int) -> Iterator[Difference]:
    before, after = forms_of(window, one), forms_of(window, other)
    for n in sorted({**before, **after}):
        if before.get(n) != after.get(n):
            item = window.archive[n]
            words = first_words(item)
            yield Difference(n, item.kind, item.name or "", words, before.get(n), after.get(n))


def forms_of(window: Window, generation: int) -> dict[int, Form]:
    """The forms of its items, as they was at its end. Raises `Refused`."""
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
