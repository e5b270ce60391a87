"""From a finished consolidation to the files in use, and back.

A result is complete on disk before a file in use changes. From then on each step can be repeated,
so the next run finishes what was cut off. Every function blocks, needs the lock of `MemoryPlaces`
and raises `OSError`.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pinfold.memories import baseline, trees
from pinfold.memories.places import DIFF, MemoriesRefused, MemoryPlaces, is_output

MARKER = "result.json"
_BEFORE, _AFTER = "before", "after"


class ConsolidationResult(Struct, frozen=True):
    """The result of a consolidation, without its files."""

    made_at: float
    """Seconds of the epoch."""
    by: Literal["model", "rules"]
    held: bool
    """Whether it waits for review."""
    proven: int
    doubts: tuple[tuple[str, str], ...]
    """Lines that no record confirms, and why not."""
    begun: bool = False
    """Whether the user has accepted a part of it."""


def outputs(tree: Mapping[str, bytes]) -> trees.Tree:
    """The files that consolidations write."""
    return {name: data for name, data in tree.items() if is_output(name)}


def inputs(tree: Mapping[str, bytes]) -> trees.Tree:
    """The files that consolidations read."""
    return {name: data for name, data in tree.items() if not is_output(name)}


def store(
    places: MemoryPlaces, before: trees.Tree, after: trees.Tree, result: ConsolidationResult
) -> None:
    """Keep a result. `before` are the outputs in use; `after` is all that is to be the baseline."""
    parts = {_BEFORE: before, _AFTER: after}
    trees.fresh(places.result, parts, (MARKER, msgspec.json.encode(result)))


def load(places: MemoryPlaces) -> ConsolidationResult | None:
    """The result that is not applied yet, if there is one."""
    try:
        return msgspec.json.decode((places.result / MARKER).read_bytes(), type=ConsolidationResult)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def before(places: MemoryPlaces) -> trees.Tree:
    return trees.read(places.result / _BEFORE)


def after(places: MemoryPlaces) -> trees.Tree:
    return trees.read(places.result / _AFTER)


def propose(places: MemoryPlaces, name: str, data: bytes | None) -> None:
    """Change one file of the waiting result; None removes it."""
    if data is None:
        trees.remove(places.result / _AFTER, name)
    else:
        trees.put(places.result / _AFTER, name, data)


def begin(places: MemoryPlaces, result: ConsolidationResult) -> None:
    """Before the first part of a result is accepted: note the files that it replaces."""
    if not result.begun:
        now = outputs(trees.read(places.files))
        store(places, now, after(places), replace(result, begun=True))


def apply(places: MemoryPlaces, result: ConsolidationResult, check: Callable[[], None]) -> None:
    """Use a result: write the copy for undo, the files and the baseline, each after `check`.

    If a file in use has changed meanwhile, the result is dropped and `MemoriesRefused` raised.
    """
    was, to_be = before(places), after(places)
    wanted, live = outputs(to_be), outputs(trees.read(places.files))
    for name in sorted({*was, *wanted, *live}):
        if live.get(name) not in (was.get(name), wanted.get(name)):
            check()
            trees.retire(places.result, MARKER)
            raise MemoriesRefused(f"{name} was changed while memories were consolidated.")
    check()
    _keep(places, was, wanted, result)
    _write(places, live, wanted, check)
    check()
    (places.files / DIFF).unlink(missing_ok=True)
    baseline.reset(places, to_be)
    trees.retire(places.result, MARKER)


def settle(places: MemoryPlaces, result: ConsolidationResult) -> None:
    """End a review: the files as they are now become the baseline."""
    now = outputs(trees.read(places.files))
    was, to_be = before(places), after(places)
    if now != was:
        _keep(places, was, now, result)
    (places.files / DIFF).unlink(missing_ok=True)
    baseline.reset(places, inputs(to_be) | now)
    trees.retire(places.result, MARKER)


def _keep(
    places: MemoryPlaces, was: trees.Tree, now: trees.Tree, result: ConsolidationResult
) -> None:
    marker = (MARKER, msgspec.json.encode(result))
    trees.fresh(places.undo, {_BEFORE: was, _AFTER: now}, marker)


def _write(
    places: MemoryPlaces, live: trees.Tree, wanted: trees.Tree, check: Callable[[], None]
) -> None:
    for name, data in wanted.items():
        if live.get(name) != data:
            check()
            trees.put(places.files, name, data)
    for name in live:
        if name not in wanted:
            check()
            trees.remove(places.files, name)


def undo(places: MemoryPlaces) -> None:
    """Restore the files that the last consolidation replaced. Its inputs still count as read.

    Raises `MemoriesRefused`.
    """
    if load(places):
        raise MemoriesRefused("A consolidation is waiting for review: accept or reject it first.")
    if not (places.undo / MARKER).exists():
        raise MemoriesRefused("There is no consolidation to undo.")
    was, made = trees.read(places.undo / _BEFORE), trees.read(places.undo / _AFTER)
    live = outputs(trees.read(places.files))
    edited = [
        name
        for name in {*was, *made, *live}
        if live.get(name) not in (was.get(name), made.get(name))
    ]
    if edited:
        raise MemoriesRefused(f"{min(edited)} has been edited since; undoing would lose that.")
    _write(places, live, was, lambda: None)
    baseline.reset(places, inputs(baseline.read(places)) | was)
    trees.retire(places.undo, MARKER)


def rewrite(places: MemoryPlaces, change: Callable[[trees.Tree], trees.Tree]) -> None:
    """Change the files in every copy. What an agent is working on is dropped."""
    for folder in places.unfinished():
        trees.drop(folder)
    (places.files / DIFF).unlink(missing_ok=True)
    baseline.recover(places)
    for folder in (
        places.files,
        *(kept / part for kept in (places.undo, places.result) for part in (_BEFORE, _AFTER)),
    ):
        old = trees.read(folder)
        new = change(old)
        for name in old:
            if name not in new:
                trees.remove(folder, name)
        for name, data in new.items():
            trees.put(folder, name, data)
    base = baseline.read(places)
    if (changed := change(base)) != base:
        baseline.reset(places, changed)
    for kept in (places.undo, places.result):
        _clean_marker(kept / MARKER)


def _clean_marker(path: Path) -> None:
    """Remove doubtful lines from a marker: they may say what is forgotten."""
    try:
        result = msgspec.json.decode(path.read_bytes(), type=ConsolidationResult)
    except (FileNotFoundError, msgspec.DecodeError):
        return
    trees.put(path.parent, path.name, msgspec.json.encode(replace(result, doubts=())))
