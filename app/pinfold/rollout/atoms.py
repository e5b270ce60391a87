"""Atoms: one response with its results, or any other item alone.

Cuts fall between them.
"""

from collections.abc import Callable, Iterable
from itertools import count
from typing import TypeVar

from pinfold.rollout.items import WRITTEN, Item

T = TypeVar("T")


def response_of(item: Item) -> int:
    """The response that it belongs to; 0 if it is an atom of its own."""
    return item.response if item.kind in WRITTEN else 0


def grouped(things: Iterable[T], item: Callable[[T], Item]) -> list[list[T]]:
    """By atoms, in the order in which these begin; `item` finds the item of a thing."""
    found: dict[int, list[T]] = {}
    alone = count(-1, -1)
    for thing in things:
        found.setdefault(response_of(item(thing)) or next(alone), []).append(thing)
    return list(found.values())
