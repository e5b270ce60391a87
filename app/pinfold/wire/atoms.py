"""Groups items for a request: each response with its results."""

from collections.abc import Iterable

from pinfold.ports.provider import ModelInfo
from pinfold.rollout.atoms import grouped
from pinfold.rollout.items import Item

_Key = tuple[int, str | None]
"""Response and call id: some servers give the same ids in each response."""


class BrokenPair(ValueError):
    """A call without its result, or a result without its call: no provider takes that."""


def atoms(items: Iterable[Item]) -> list[list[Item]]:
    """The items in order, those of one response together, every call followed by its results.

    A result that something else came before moves up to its call. Raises `BrokenPair`.
    """
    items = list(items)
    results = _results(items)
    others = (item for item in items if item.kind != "tool_result")
    found = [_whole(atom, results) for atom in grouped(others, lambda item: item)]
    if results:
        raise BrokenPair(f"results without their calls: {[str(key[1]) for key in results]}")
    return found


def is_own(item: Item, model: ModelInfo) -> bool:
    """Whether `model` wrote the item, so that its reasoning may go back to it."""
    origin = item.origin
    return origin is not None and (origin.provider, origin.model) == (model.provider, model.name)


def _results(items: Iterable[Item]) -> dict[_Key, Item]:
    results: dict[_Key, Item] = {}
    for item in items:
        if item.kind == "tool_result":
            key = (item.response, item.call_id)
            if key in results:
                raise BrokenPair(f"two results for call {item.call_id} of response {key[0]}")
            results[key] = item
    return results


def _whole(atom: list[Item], results: dict[_Key, Item]) -> list[Item]:
    """The atom with its results, which are taken out of `results`."""
    calls = [item for item in atom if item.kind == "tool_call"]
    ids = [call.call_id for call in calls]
    if None in ids or len(set(ids)) < len(ids):
        raise BrokenPair(f"calls that cannot be told apart in response {atom[0].response}: {ids}")
    keys = [(call.response, call.call_id) for call in calls]
    if lost := [str(key[1]) for key in keys if key not in results]:
        raise BrokenPair(f"calls without results in response {atom[0].response}: {lost}")
    return atom + [results.pop(key) for key in keys]
