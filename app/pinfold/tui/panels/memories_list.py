"""The lines of the memories' panel, by folder."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.text import Text

from pinfold import paths
from pinfold.commands.context_text import age
from pinfold.memories.listing import Memory, State
from pinfold.sanitize import one_line
from pinfold.tui.colours import ink
from pinfold.tui.panels.checkpoint_list import CheckpointList
from pinfold.tui.panels.checkpoint_rows import KeptRow
from pinfold.tui.panels.fitting import cell, fitted
from pinfold.tui.panels.line_list import Line

SIGNS: dict[State, str] = {
    "told": "●",
    "kept": "○",
    "waiting": "◌",
    "stale": "!",
    "unconfirmed": "?",
}
SAID: dict[State, str] = {
    "told": "new sessions are told of it",
    "kept": "in MEMORY.md, for the agent to look up",
    "waiting": "not consolidated yet",
    "stale": "may no longer hold",
    "unconfirmed": "not confirmed",
}
_INKS: dict[State, str] = {"told": "success", "stale": "warning", "unconfirmed": "warning"}
ENOUGH = 30
_GIVE_WAY = {"source": 6, "kind": 0, "tokens": 0}


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of each column; one with none is left out."""

    sign: int = 1
    kind: int = 8
    words: int = 0
    source: int = 14
    age: int = 4
    uses: int = 4
    tokens: int = 6


def source(memory: Memory) -> str:
    """`0198ab12#7`, the session by how its id begins, and how many more it cites."""
    if not memory.cites:
        return "you"
    first, more = memory.cites[0], len(memory.cites) - 1
    return f"{first.session[:8]}#{first.item}{f' +{more}' if more else ''}"


def ordered(memories: Iterable[Memory], cwd: Path) -> list[tuple[str, list[Memory]]]:
    """The memories by folder: this one and those of its repository first, the most used on top."""
    root = paths.repository_root(cwd) or cwd
    groups: dict[str, list[Memory]] = {}
    for memory in memories:
        groups.setdefault(memory.folder, []).append(memory)

    def distance(folder: str) -> int:
        path = Path(folder)
        return 0 if path == cwd else 1 if folder and path.is_relative_to(root) else 2

    return [
        (folder, sorted(groups[folder], key=lambda each: -each.uses))
        for folder in sorted(groups, key=lambda each: (distance(each), each))
    ]


class MemoriesList(CheckpointList):
    """A cursor over memories, under the headings of their folders."""

    def __init__(self, now: datetime) -> None:
        super().__init__()
        self._now = now
        self.memories: dict[str, Memory] = {}

    @property
    def memory(self) -> Memory | None:
        """The one under the cursor."""
        return self.memories.get(self.current or "")

    def show_memories(self, groups: Sequence[tuple[str, Sequence[Memory]]]) -> None:
        self.memories = {each.key: each for _, some in groups for each in some}
        rows: list[KeptRow] = []
        for folder, some in groups:
            name = one_line(paths.shown(Path(folder))) if folder else "Anywhere"
            rows.append(KeptRow(f"/{folder}", name, heading=True, note=f"{len(some):,}"))
            rows += [KeptRow(each.key, each.text) for each in some]
        self.show_rows(rows)

    def _draw(self, line: Line, chosen: bool, width: int) -> Text:
        columns = Columns(**fitted(asdict(Columns()), width - 2, _GIVE_WAY, ENOUGH))
        memory = self.memories.get(line.key)
        if memory is None:
            return self._heading(super()._draw(line, chosen, width), line, columns, width)
        dim, plain = ink(self.app, "foreground 60%"), ink(self.app, "foreground")
        colour = ink(self.app, _INKS[memory.state]) if memory.state in _INKS else dim
        at = datetime.fromtimestamp(memory.at, UTC) if memory.at is not None else None
        cells = (
            (SIGNS[memory.state], columns.sign, colour, False),
            (memory.kind, columns.kind, dim, False),
            (one_line(memory.text), columns.words, plain, False),
            (one_line(source(memory)), columns.source, dim, True),
            (age(at, self._now) if at else "", columns.age, dim, True),
            (f"{memory.uses}×" if memory.uses else "–", columns.uses, plain, True),
            (f"{memory.tokens:,}", columns.tokens, dim, True),
        )
        text = Text("▎" if chosen else " ", ink(self.app, "accent"), end="")
        for said, size, style, right in cells:
            text.append(cell(said, size, right=right), style)
        return text

    def _heading(self, text: Text, line: Line, columns: Columns, width: int) -> Text:
        """A heading; the first also names the columns."""
        if line.key != next(iter(self.rows)):
            return text
        sizes = {"source": columns.source, "age": columns.age, "use": columns.uses}
        sizes["tokens"] = columns.tokens
        names = "".join(cell(name, size, right=True) for name, size in sizes.items())
        text.truncate(width - len(names), overflow="ellipsis", pad=True)
        return text.append(names, ink(self.app, "foreground 60%"))
