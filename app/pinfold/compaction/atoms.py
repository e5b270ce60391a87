"""Atoms of a window: what one response brought, or anything else alone. Cuts fall between them."""

from collections.abc import Sequence

from pinfold.compaction.view import Entry, WindowView
from pinfold.rollout.items import WRITTEN

Atom = tuple[Entry, ...]


def atoms(view: WindowView) -> list[Atom]:
    """The atoms in the order in which they begin; a result belongs to its call's response."""
    if "atoms" not in view.known:
        view.known["atoms"] = _atoms(view)
    return list(view.known["atoms"])


def _atoms(view: WindowView) -> list[Atom]:
    found: list[list[Entry]] = []
    responses: dict[int, list[Entry]] = {}
    for entry in view.entries:
        item = entry.item
        atom = responses.get(item.response) if item.kind in WRITTEN and item.response else None
        if atom is not None:
            atom.append(entry)
            continue
        found.append([entry])
        if item.kind in WRITTEN and item.response:
            responses[item.response] = found[-1]
    return [tuple(atom) for atom in found]


def open_atom(every: Sequence[Atom]) -> Atom:
    """The last response, where nothing came after it: the model has yet to see its results."""
    return every[-1] if every and every[-1][0].item.kind in WRITTEN else ()


def tail(every: Sequence[Atom], max_messages: int) -> list[Atom]:
    """The newest atoms with at most so many items, and no less than the open one."""
    found: list[Atom] = []
    left = max_messages
    for atom in reversed(every):
        left -= len(atom)
        if left < 0 and not (not found and atom is open_atom(every)):
            break
        found.append(atom)
    return found[::-1]
