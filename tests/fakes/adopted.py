"""What an adoption holds."""

from typing import TypeVar

from pinfold.adopt.adoption import Adoption
from pinfold.rollout.events import ItemAdded, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.window.window import Window
from pinfold.wire.atoms import atoms

T = TypeVar("T")


def data(adoption: Adoption, kind: type[T]) -> list[T]:
    """The data of events of one type."""
    return [event.data for event in adoption.events if isinstance(event.data, kind)]


def items(adoption: Adoption) -> list[Item]:
    return [added.item for added in data(adoption, ItemAdded)]


def window(adoption: Adoption) -> Window:
    """The last window. Raises `BrokenPair` if it, or one that was replaced, has half a pair."""
    folded = Window()
    for event in adoption.events:
        if isinstance(event.data, WindowReplaced):
            atoms(folded.items)
        folded.step(event)
    atoms(folded.items)
    return folded
