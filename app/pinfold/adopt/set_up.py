"""The items that told another tool how to work; pinfold replaces them by its own instructions."""

from pinfold.adopt.adoption import Adoption
from pinfold.adopt.codex_items import sets_up
from pinfold.rollout.events import Event, ItemAdded, ItemsMarked, WindowReplaced
from pinfold.rollout.items import Item


def set_up(adoption: Adoption) -> list[Item]:
    """The items of the last window that set Codex up. Other tools keep theirs outside it."""
    if adoption.tool != "codex":
        return []
    items: dict[int, Item] = {}
    window: list[int] = []
    for event in adoption.events:
        match event.data:
            case ItemAdded(item=item):
                items[item.n] = item
                window.append(item.n)
            case WindowReplaced(inserted=inserted) as replaced:
                items.update((item.n, item) for item in inserted)
                window = [n for n, _ in replaced.window]
    return [items[n] for n in window if sets_up(items[n])]


def folding(adoption: Adoption, folded: list[Item]) -> Event:
    """The event that folds these items, after those of the adoption."""
    last = adoption.events[-1]
    marked = ItemsMarked(items=tuple((item.n, "placeholder") for item in folded))
    return Event(last.seq + 1, last.ts, marked)
