"""Items grouped as a request needs them: one response with its results at a time."""

from collections.abc import Iterable
from itertools import groupby

from pinfold.ports import ModelInfo
from pinfold.rollout.items import Item

WRITTEN = frozenset({"assistant", "reasoning", "tool_call", "tool_result"})
"""Kinds that belong to a response; all others stand alone."""


class BrokenPair(ValueError):
    """A call without its result, or a result without its call: no provider takes that."""


def atoms(items: Iterable[Item]) -> list[list[Item]]:
    """The items in order, those of one response together, every call followed by its results.

    Raises `BrokenPair`.
    """
    groups = groupby(items, lambda item: (item.kind in WRITTEN, item.response))
    found: list[list[Item]] = []
    for (written, _), group in groups:
        if written:
            found.append(_whole(list(group)))
        else:
            found.extend([item] for item in group)
    return found


def is_own(item: Item, model: ModelInfo) -> bool:
    """Whether `model` wrote the item, so that its reasoning may go back to it."""
    origin = item.origin
    return origin is not None and (origin.provider, origin.model) == (model.provider, model.name)


def _whole(atom: list[Item]) -> list[Item]:
    calls = [item for item in atom if item.kind == "tool_call"]
    results = {item.call_id: item for item in atom if item.kind == "tool_result"}
    ids = [call.call_id for call in calls]
    if None in ids or len(set(ids)) < len(ids):
        raise BrokenPair(f"calls that cannot be told apart in response {atom[0].response}: {ids}")
    results_count = sum(item.kind == "tool_result" for item in atom)
    if set(ids) != set(results) or results_count != len(results):
        raise BrokenPair(
            f"calls and results of response {atom[0].response} do not match: "
            f"{sorted(map(str, ids))} and {sorted(map(str, results))}"
        )
    rest = [item for item in atom if item.kind != "tool_result"]
    return rest + [results[id_] for id_ in ids]
