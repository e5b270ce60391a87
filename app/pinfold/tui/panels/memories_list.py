"""The lines of the memories' panel, by folder."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from pinfold import paths
from pinfold.commands.context_text import age
from pinfold.memories.listing import ListedMemory, MemoryStatus
from pinfold.sanitize import one_line
from pinfold.tui.panels.table import Cell, Heading, Sizes, Table

SIGNS: dict[MemoryStatus, str] = {
    "told": "●",
    "kept": "○",
    "waiting": "◌",
    "stale": "!",
    "unconfirmed": "?",
}
SAID: dict[MemoryStatus, str] = {
    "told": "given to new sessions",
    "kept": "in MEMORY.md, for the agent to look up",
    "waiting": "not consolidated yet",
    "stale": "may be out of date",
    "unconfirmed": "not confirmed",
}
_WHOSE = 18
"""Cells of the column that says whose a line is, where any is shared."""
_INKS: dict[MemoryStatus, str] = {"told": "success", "stale": "warning", "unconfirmed": "warning"}


def source(memory: ListedMemory) -> str:
    """`0198ab12#7`, the session by how its id begins, and how many more it cites."""
    if not memory.cites:
        return "you"
    first, more = memory.cites[0], len(memory.cites) - 1
    return f"{first.session[:8]}#{first.item}{f' +{more}' if more else ''}"


def whose(memory: ListedMemory) -> str:
    """Who said it, and with whom it is shared; empty for what is private."""
    if memory.owner:
        return f"shared by {one_line(memory.owner)} with {memory.team}"
    return f"shared with {memory.team}" if memory.team else ""


def _whose(memory: ListedMemory) -> str:
    """The same in a column."""
    return f"{one_line(memory.owner) or 'you'} · {memory.team}" if memory.team else ""


def ordered(memories: Iterable[ListedMemory], cwd: Path) -> list[tuple[str, list[ListedMemory]]]:
    """The memories by folder: this one and those of its repository first, the most used on top."""
    root = paths.repository_root(cwd) or cwd
    groups: dict[str, list[ListedMemory]] = {}
    for memory in memories:
        groups.setdefault(memory.folder, []).append(memory)

    def distance(folder: str) -> int:
        path = Path(folder)
        return 0 if path == cwd else 1 if folder and path.is_relative_to(root) else 2

    return [
        (folder, sorted(groups[folder], key=lambda memory: -memory.uses))
        for folder in sorted(groups, key=lambda group: (distance(group), group))
    ]


class MemoriesList(Table[ListedMemory]):
    """Memories, under the headings of their folders."""

    SIZES: ClassVar[Sizes] = {
        "sign": 1,
        "kind": 8,
        "words": 0,
        "whose": 0,
        "source": 14,
        "age": 4,
        "uses": 4,
        "tokens": 6,
    }
    RIGHT = ("whose", "source", "age", "uses", "tokens")
    HEADS: ClassVar[Mapping[str, str]] = {
        "whose": "whose",
        "source": "source",
        "age": "age",
        "uses": "use",
        "tokens": "tokens",
    }
    GIVE_WAY: ClassVar[Sizes] = {"source": 6, "kind": 0, "tokens": 0, "whose": 0}
    ENOUGH = 30
    STAYS = True

    def __init__(self, now: datetime) -> None:
        super().__init__()
        self._now = now

    def show_memories(self, groups: Sequence[tuple[str, Sequence[ListedMemory]]]) -> None:
        rows: dict[str, ListedMemory | Heading] = {}
        everyone = [len(_whose(memory)) for _, some in groups for memory in some]
        self.sizes["whose"] = min(max(everyone, default=0), _WHOSE)
        for folder, some in groups:
            name = one_line(paths.shown(Path(folder))) if folder else "Anywhere"
            rows[f"/{folder}"] = Heading(name, f"{len(some):,}", columns=not rows)
            rows |= {memory.key: memory for memory in some}
        self.show(rows)

    def cells(self, row: ListedMemory) -> Iterable[Cell]:
        dim, plain = self.ink("foreground 60%"), self.ink("foreground")
        at = datetime.fromtimestamp(row.at, UTC) if row.at is not None else None
        yield SIGNS[row.state], self.ink(_INKS[row.state]) if row.state in _INKS else dim
        yield row.kind, dim
        yield one_line(row.text), plain
        yield _whose(row), plain if row.owner else dim
        yield one_line(source(row)), dim
        yield age(at, self._now) if at else "", dim
        yield f"{row.uses}×" if row.uses else "–", plain
        yield f"{row.tokens:,}", dim
