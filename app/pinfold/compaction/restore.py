"""Back to an earlier window, with what came since."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from pinfold.rollout.events import Data, ItemsMarked, PinsChanged, WindowReplaced
from pinfold.rollout.items import WRITTEN, Form
from pinfold.rollout.values import PlanBase
from pinfold.window.forms import unpack
from pinfold.window.generations import change_to, first_of
from pinfold.window.refused import Refused
from pinfold.window.window import Boundary, Window


def undo_of(window: Window, seq: int) -> Data:
    """What undoes the change of event `seq`; later pins and marks stay. Raises `Refused`."""
    undoable = next((change for change in window.undo.since(seq - 1) if change.seq == seq), None)
    if undoable is None:
        raise Refused("That can't be undone, or was undone already.")
    if undoable.event is not None:
        return undoable.event
    later = window.undo.since(seq)
    if any(change.event is None for change in later):
        raise Refused("Undo the later compactions first.")
    at = next(i for i, edge in enumerate(window.boundaries) if edge.seq == seq)
    marked = {
        n
        for change in later
        if isinstance(change.event, ItemsMarked | PinsChanged)
        for n, _ in change.event.items
    }
    now = window.forms
    forms = _forms(window, at)
    forms.update((n, now[n]) for n in marked if n in now and n in forms)
    boundary = window.boundaries[at]
    since = {n: f for n, f in now.items() if n > boundary.last and n not in boundary.inserted}
    return _replacement(window, {**forms, **since}, "undo", seq)


def restore_of(window: Window, generation: int) -> WindowReplaced:
    """The window of an older generation, with all items since. Raises `Refused`.

    What compactions inserted after it, and what rewinds took back, does not come along.
    """
    at = next(
        (i for i, boundary in enumerate(window.boundaries) if boundary.generation > generation),
        None,
    )
    if at is None or generation < first_of(window):
        raise Refused(f"There is no earlier window {generation}.")
    later = window.boundaries[at:]
    came = {n for boundary in later for n in boundary.inserted} | _rewound(window, later)
    now = window.forms
    since = {n: now.get(n, "full") for n in window.archive if n > later[0].last and n not in came}
    return _replacement(window, {**_forms(window, at), **since}, "restore", None)


def keep_of(window: Window, generation: int, n: int) -> WindowReplaced:
    """The window with item `n` in full again, in its old place; `generation` took it away.

    What belongs together comes together: a call and its result, a thought and what it led to.
    Raises `Refused`.
    """
    change = change_to(window, generation)
    before = {} if change is None else unpack(change.before)
    if n not in before:
        raise Refused(f"#{n} was not in the window before {generation}.")
    now = window.forms
    back = [number for number in _together(window, n, before) if now.get(number) != "full"]
    if not back:
        raise Refused(f"#{n} is in the window.")
    replaced = _replacement(window, _placed(window, tuple(before), now, back), "kept", None)
    return replace(replaced, why=dict.fromkeys(back, "restored by you"))


def _together(window: Window, n: int, before: Mapping[int, Form]) -> list[int]:
    """Item `n` and those of `before` that may not come without each other."""
    archive = window.archive
    item = archive[n]
    parts = [n]
    if item.kind == "reasoning":
        heads = (archive.head(number) for number in before)
        parts = [e.n for e in heads if e.kind in WRITTEN and e.response == item.response]
    partners = [partner for part in parts if (partner := archive.partner(part)) is not None]
    return sorted({*parts, *(number for number in partners if number in before)})


def _placed(
    window: Window, order: Sequence[int], now: Mapping[int, Form], back: Sequence[int]
) -> dict[int, Form]:
    """The window of `now` with `back` in it, each behind what it once was behind."""
    places, standing = list(now), set(now)
    inserted = (n for boundary in window.boundaries for n in boundary.inserted if n in standing)
    instead = {window.archive[n].detail.get("replaces"): n for n in inserted}
    for n in sorted(set(back) - standing, key=order.index):
        at = order.index(n)
        earlier = next((number for number in reversed(order[:at]) if number in standing), None)
        later = next((number for number in order[at:] if number in standing), None)
        if n in instead:  # what was cut from it goes
            places[places.index(instead[n])] = n
            standing.discard(instead[n])
        elif earlier is not None:
            places.insert(places.index(earlier) + 1, n)
        else:
            places.insert(len(places) if later is None else places.index(later), n)
        standing.add(n)
    return {n: "full" if n in back else now[n] for n in places}


def _forms(window: Window, at: int) -> dict[int, Form]:
    """The window that ended at boundary `at`, without what later rewinds took back."""
    gone = _rewound(window, window.boundaries[at:])
    return {n: f for n, f in unpack(window.boundaries[at].before).items() if n not in gone}


def _rewound(window: Window, later: Sequence[Boundary]) -> set[int]:
    following = [*(unpack(boundary.before) for boundary in later[1:]), window.forms]
    return {
        n
        for boundary, then in zip(later, following, strict=True)
        if boundary.reason == "rewind"
        for n in unpack(boundary.before)
        if n not in then
    }


def _replacement(
    window: Window, forms: Mapping[int, Form], reason: str, undoes: int | None
) -> WindowReplaced:
    return WindowReplaced(
        generation=window.generation + 1,
        base=PlanBase(window.generation, window.seq),
        reason=reason,
        window=tuple(forms.items()),
        undoes=undoes,
    )
