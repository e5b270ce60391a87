"""How items are in the window, as the transcript shows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from pinfold.rollout.events import Pin
    from pinfold.rollout.items import Form, Item
    from pinfold.window.window import Boundary

PINNED, SHORT, MASKED, FOLDED, ARCHIVED = "⚑", "◑", "◐", "○", "·"
"""Signs at the number of an item: full, half and empty, then gone from the window."""

_SIGNS: dict[Form | None, str] = {
    "full": " ",
    "short": SHORT,
    "masked": MASKED,
    "placeholder": FOLDED,
    None: ARCHIVED,
}


class Standings(Protocol):
    """The part of `agent.steering.Steering` that the transcript reads."""

    @property
    def boundaries(self) -> Sequence[Boundary]: ...

    def form(self, n: int) -> Form | None: ...
    def pin_on(self, n: int) -> Pin | None: ...


class EntryStatus(NamedTuple):
    """What is shown of one entry."""

    signs: dict[int, str]
    """By the number of the item. That of a call counts for its result, which may be out of view."""
    unseen: bool
    """The model sees nothing of it."""


SEEN = EntryStatus({}, False)


def standing_of(items: Iterable[Item], window: Standings | None) -> EntryStatus:
    """The status of the items of one entry."""
    numbers = [item.n for item in items]
    if window is None or not numbers:
        return SEEN
    forms = [window.form(n) for n in numbers]
    signs = {
        n: PINNED if window.pin_on(n) is not None else _SIGNS[form]
        for n, form in zip(numbers, forms, strict=True)
    }
    signs[numbers[0]] = next((sign for sign in signs.values() if sign != " "), " ")
    return EntryStatus(signs, all(form in ("placeholder", None) for form in forms))
