"""The atoms of a view, and the newest of them."""

from collections.abc import Iterable, Sequence
from operator import attrgetter

from pinfold.compaction.view import WindowEntry, WindowView
from pinfold.rollout.atoms import grouped
from pinfold.rollout.items import WRITTEN, Form

Atom = tuple[WindowEntry, ...]


def atoms(view: WindowView) -> list[Atom]:
    """In the order in which they begin."""
    found = (tuple(atom) for atom in grouped(view.entries, attrgetter("item")))
    return list(view.once("atoms", lambda: list(found)))


def open_atom(every: Sequence[Atom]) -> Atom:
    """The last response if the model has not seen its outcome: nothing follows it, or it made calls
    and only messages follow. Else empty.
    """
    last = next((atom for atom in reversed(every) if atom[0].item.kind in WRITTEN), ())
    called = any(entry.item.kind == "tool_call" for entry in last)
    return last if called or (last and last is every[-1]) else ()


def shrinks_unseen(view: WindowView, window: Iterable[tuple[int, Form]]) -> bool:
    """Whether a next window has less of results that the model has not been sent."""
    forms = dict(window)
    results = (e for e in open_atom(atoms(view)) if e.item.kind == "tool_result")
    return any(forms.get(result.n) != result.form for result in results)


def tail(every: Sequence[Atom], max_messages: int) -> list[Atom]:
    """The newest atoms: at most `max_messages` items, and at least the open atom."""
    opened = open_atom(every)
    found: list[Atom] = []
    left, inside = max_messages, bool(opened)
    for atom in reversed(every):
        left -= len(atom)
        if left < 0 and not inside:
            break
        found.append(atom)
        inside = inside and atom is not opened
    return found[::-1]
