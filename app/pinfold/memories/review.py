"""Review, undo and forget consolidated memories. Every function blocks.

Raises `MemoriesRefused` with a sentence for the user, and `OSError`.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from pinfold.memories import applying, artifacts, baseline, trees
from pinfold.memories.applying import ConsolidationResult
from pinfold.memories.places import (
    EXTENSIONS,
    MEMORY,
    RAW,
    SUMMARIES,
    SUMMARY,
    MemoriesRefused,
    MemoryPlaces,
    is_output,
)
from pinfold.memories.proof import RecordIndex, purged
from pinfold.memories.records import Output


@dataclass(frozen=True, slots=True)
class ReviewHunk:
    """One change of a held consolidation."""

    id: str
    """Valid until anything changes."""
    path: str
    """Relative to the folder of memories."""
    line: int
    """Its first line in the file in use, from 1."""
    before: str
    """Lines that would be removed, with line ends."""
    after: str
    """Lines that would be added."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A consolidation that is held back."""

    result: ConsolidationResult
    hunks: tuple[ReviewHunk, ...]
    diff: str
    """All changes, as git shows them."""


def pending(places: MemoryPlaces) -> Pending | None:
    """The consolidation that waits for review; None if there is none."""
    with places.locked():
        return _pending(places)


def _pending(places: MemoryPlaces) -> Pending | None:
    result = applying.load(places)
    if result is None or not result.held:
        return None
    live, wanted = _old_and_new(places)
    hunks = tuple(
        hunk for name in sorted({*live, *wanted}) for hunk in hunks_of(name, live, wanted)
    )
    return Pending(result, hunks, baseline.diff(live, wanted))


def settled(places: MemoryPlaces) -> Pending | None:
    """The consolidation that waits; ends a review with nothing left to decide. Needs the lock."""
    waiting = _pending(places)
    if waiting is None or waiting.hunks:
        return waiting
    applying.settle(places, waiting.result)
    return None


def accept(places: MemoryPlaces, *ids: str) -> None:
    """Use these changes."""
    with places.locked():
        result, chosen = _chosen(places, ids)
        applying.begin(places, result)
        live, _ = _old_and_new(places)
        for name in {hunk.path for hunk in chosen}:
            _put(places, name, replaced(live.get(name), _edits(name, chosen)))
        settled(places)


def reject(places: MemoryPlaces, *ids: str) -> None:
    """Drop these changes; they are not proposed again unless their sources change."""
    with places.locked():
        _, chosen = _chosen(places, ids)
        live, wanted = _old_and_new(places)
        for name in {hunk.path for hunk in chosen}:
            others = [hunk for hunk in hunks_of(name, live, wanted) if hunk not in chosen]
            applying.propose(places, name, replaced(live.get(name), _edits(name, others)))
        settled(places)


def edit(places: MemoryPlaces, hunk_id: str, text: str) -> None:
    """Use the user's words instead of the lines that one change would add."""
    with places.locked():
        result, (hunk,) = _chosen(places, (hunk_id,))
        applying.begin(places, result)
        live, wanted = _old_and_new(places)
        said = f"{text.rstrip()}\n" if text.strip() else ""
        # The proposal first: if interrupted here, the user sees the edited change again.
        others = [wish for wish in hunks_of(hunk.path, live, wanted) if wish != hunk]
        edits = [*_edits(hunk.path, others), (hunk.line, hunk.before, said)]
        applying.propose(places, hunk.path, replaced(live.get(hunk.path), edits))
        edits = [(hunk.line, hunk.before, said)]
        _put(places, hunk.path, replaced(live.get(hunk.path), edits))
        settled(places)


def undo(places: MemoryPlaces) -> None:
    """Restore the files that the last consolidation replaced, unless they were edited since."""
    with places.locked():
        applying.undo(places)


def forget(places: MemoryPlaces, gone: Collection[str], left: Iterable[Output]) -> None:
    """Remove what only these sessions taught from the files and all copies.

    `gone` are whole session ids; `left` are all remaining records.
    """
    if gone:
        with places.locked():
            purge(places, gone, RecordIndex(left))


def purge(places: MemoryPlaces, gone: Collection[str], records: RecordIndex) -> None:
    """The same; needs the lock."""
    applying.rewrite(places, lambda tree: _without(tree, frozenset(gone), records))


def clear(places: MemoryPlaces) -> None:
    """Remove all memories and copies. Notes of other tools in `extensions/` stay."""
    with places.locked():
        applying.rewrite(
            places, lambda tree: {k: v for k, v in tree.items() if k.startswith(f"{EXTENSIONS}/")}
        )
        trees.retire(places.result, applying.MARKER)
        trees.retire(places.undo, applying.MARKER)


def _without(tree: trees.Tree, gone: frozenset[str], records: RecordIndex) -> trees.Tree:
    left: trees.Tree = {}
    for name, data in tree.items():
        text = trees.text(data) or ""
        if name.startswith(f"{SUMMARIES}/"):
            if artifacts.session_of(text) not in gone:
                left[name] = data
        elif name == RAW:
            left[name] = artifacts.without(text, gone).encode()
        elif is_output(name) and name.endswith(".md"):
            if (purged_text := purged(text, gone, records)) or name in (MEMORY, SUMMARY):
                left[name] = purged_text.encode()
        else:
            left[name] = data
    return left


def _old_and_new(places: MemoryPlaces) -> tuple[trees.Tree, trees.Tree]:
    return applying.outputs(trees.read(places.files)), applying.outputs(applying.after(places))


def _chosen(
    places: MemoryPlaces, ids: Sequence[str]
) -> tuple[ConsolidationResult, list[ReviewHunk]]:
    """The held result, and its changes with these ids."""
    waiting = _pending(places)
    if waiting is None:
        raise MemoriesRefused("No consolidation is waiting for review.")
    found = [hunk for hunk in waiting.hunks if hunk.id in ids]
    if len(found) < len(set(ids)):
        raise MemoriesRefused("That change is gone; check the list again.")
    return waiting.result, found


def hunks_of(name: str, live: trees.Tree, wanted: trees.Tree) -> list[ReviewHunk]:
    """The changes from one file in use to the wanted one."""
    old, new = (_lines(tree.get(name)) for tree in (live, wanted))
    found: list[ReviewHunk] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            before, after = "".join(old[i1:i2]), "".join(new[j1:j2])
            said = f"{name}\0{i1}\0{before}\0{after}"
            hashed = hashlib.sha256(said.encode()).hexdigest()[:12]
            found.append(ReviewHunk(hashed, name, i1 + 1, before, after))
    return found


def _edits(name: str, hunks: Iterable[ReviewHunk]) -> list[tuple[int, str, str]]:
    return [(hunk.line, hunk.before, hunk.after) for hunk in hunks if hunk.path == name]


def replaced(data: bytes | None, edits: Iterable[tuple[int, str, str]]) -> bytes | None:
    """A file with edits applied: (first line, old lines, new lines); None if nothing is left."""
    lines = _lines(data)
    for line, before, after in sorted(edits, reverse=True):
        lines[line - 1 : line - 1 + len(_lines(before.encode()))] = [after]
    return "".join(lines).encode() or None


def _lines(data: bytes | None) -> list[str]:
    return (trees.text(data or b"") or "").splitlines(keepends=True)


def _put(places: MemoryPlaces, name: str, data: bytes | None) -> None:
    if data is None:
        trees.remove(places.files, name)
    else:
        trees.put(places.files, name, data)
