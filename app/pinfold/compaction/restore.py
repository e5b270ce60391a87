"""Back to an earlier window, with what came since."""

from collections.abc import Mapping, Sequence

from pinfold.rollout.events import Base, Data, ItemsMarked, WindowReplaced
from pinfold.rollout.items import Form
from pinfold.window.forms import unpack
from pinfold.window.refused import Refused
from pinfold.window.window import Boundary, Window


def undo_of(window: Window, seq: int) -> Data:
    """What undoes the change of event `seq`; later pins and marks stay. Raises `Refused`."""
    undoable = next((each for each in window.undo.since(seq - 1) if each.seq == seq), None)
    if undoable is None:
        raise Refused("That can't be undone, or was undone already.")
    if undoable.event is not None:
        return undoable.event
    later = window.undo.since(seq)
    if any(each.event is None for each in later):
        raise Refused("Undo the later compactions first.")
    at = next(i for i, each in enumerate(window.boundaries) if each.seq == seq)
    marked = {
        n for each in later if isinstance(each.event, ItemsMarked) for n, _ in each.event.items
    }
    now = window.forms
    forms = _forms(window, at)
    forms.update((n, now[n]) for n in marked if n in now and n in forms)
    boundary = window.boundaries[at]
    since = {n: f for n, f in now.items() if n > boundary.last and n not in boundary.inserted}
    return _back(window, {**forms, **since}, "undo", seq)


def restore_of(window: Window, generation: int) -> WindowReplaced:
    """The window of an older generation, with all items since. Raises `Refused`.

    What compactions inserted after it, and what rewinds took back, does not come along.
    """
    at = next((i for i, each in enumerate(window.boundaries) if each.generation > generation), None)
    if at is None or generation < 0:
        raise Refused(f"There is no earlier window {generation}.")
    later = window.boundaries[at:]
    came = {n for each in later for n in each.inserted} | _rewound(window, later)
    now = window.forms
    since = {n: now.get(n, "full") for n in window.archive if n > later[0].last and n not in came}
    return _back(window, {**_forms(window, at), **since}, "restore", None)


def _forms(window: Window, at: int) -> dict[int, Form]:
    """The window that ended at boundary `at`, without what later rewinds took back."""
    gone = _rewound(window, window.boundaries[at:])
    return {n: f for n, f in unpack(window.boundaries[at].before).items() if n not in gone}


def _rewound(window: Window, later: Sequence[Boundary]) -> set[int]:
    following = [*(unpack(each.before) for each in later[1:]), window.forms]
    return {
        n
        for boundary, then in zip(later, following, strict=True)
        if boundary.reason == "rewind"
        for n in unpack(boundary.before)
        if n not in then
    }


def _back(
    window: Window, forms: Mapping[int, Form], reason: str, undoes: int | None
) -> WindowReplaced:
    return WindowReplaced(
        generation=window.generation + 1,
        base=Base(window.generation, window.seq),
        reason=reason,
        window=tuple(forms.items()),
        undoes=undoes,
    )
