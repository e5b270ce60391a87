"""The items that told another tool how to work; pinfold replaces them by its own instructions."""

from pinfold.adopt.adoption import Adoption
from pinfold.adopt.formats.registry import BY_NAME
from pinfold.rollout.events import Event, ItemsMarked
from pinfold.rollout.items import Item
from pinfold.window.window import Window


def set_up(adoption: Adoption) -> list[Item]:
    """Those of the last window."""
    sets_up = BY_NAME[adoption.tool].sets_up
    if sets_up is None:
        return []
    window = Window()
    for event in adoption.events:
        window.step(event)
    return [item for item in window.items if sets_up(item)]


def folding(adoption: Adoption, folded: list[Item]) -> Event:
    """The event that folds these items, after those of the adoption."""
    last = adoption.events[-1]
    marked = ItemsMarked(items=tuple((item.n, "placeholder") for item in folded))
    return Event(last.seq + 1, last.ts, marked)
