"""A new revision of a team's files: their lines, in order. Pure.

A revision contains only lines that owners shared, unchanged. Of lines of one owner that differ only
in figures, the newest wins.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from pinfold.memories.merging import wording
from pinfold.memories.places import MEMORY, SUMMARY
from pinfold.memories.statements import KINDS, MemoryStatement
from pinfold.memories.team.values import Picked, TeamLine

MOST = 2_000
"""Most lines of `MEMORY.md`."""
SUMMARY_CHARACTERS = 10_000


def choose(lines: Iterable[TeamLine]) -> list[Picked]:
    """The lines of both files, in order."""
    newest: dict[object, tuple[TeamLine, MemoryStatement]] = {}
    same: dict[object, object] = {}
    for line in sorted(lines, key=lambda line: (not line.stale, line.since, line.id)):
        statement = line.statement
        if statement is None:
            continue
        key = line.owner, line.folder, statement.kind, wording(statement.text)
        text = line.folder, statement.kind, statement.text.casefold()
        if same.setdefault(text, key) == key:  # else another owner said it first
            newest[key] = line, statement
    kept = sorted(newest.values(), key=lambda pair: (-pair[0].since, pair[0].id))[:MOST]
    return [*_placed(MEMORY, kept), *_placed(SUMMARY, _best(kept))]


def _best(
    kept: Sequence[tuple[TeamLine, MemoryStatement]],
) -> list[tuple[TeamLine, MemoryStatement]]:
    """The lines that fit into the summary: of each owner and kind in turn, newest first."""
    turns = Counter[tuple[str, str]]()
    ranked: list[tuple[int, int]] = []
    for at, (line, statement) in enumerate(kept):
        ranked.append((turns[line.owner, statement.kind], at))
        turns[line.owner, statement.kind] += 1
    room, best = SUMMARY_CHARACTERS, []
    for _, at in sorted(ranked):
        line, _ = kept[at]
        room -= len(line.text) + 1
        if room >= 0 and not line.stale:
            best.append(kept[at])
    return best


def _placed(file: str, some: Sequence[tuple[TeamLine, MemoryStatement]]) -> list[Picked]:
    """By folder, that of the newest line first; in a folder by kind, then newest first."""
    folders: dict[str, None] = dict.fromkeys(
        line.folder for line, _ in sorted(some, key=lambda pair: -pair[0].since)
    )
    rank = {folder: at for at, folder in enumerate(folders)}
    in_order = sorted(
        some, key=lambda pair: (rank[pair[0].folder], KINDS.index(pair[1].kind), -pair[0].since)
    )
    return [Picked(file, line.id) for line, _ in in_order]
