"""A machine's copy of what a team shares: the lines last pulled, and the files made from them."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from pinfold.atomic_files import make_folder, write_atomic
from pinfold.memories import reading, trees
from pinfold.memories.places import MEMORY, SUMMARY, locked, prompt
from pinfold.memories.reading import brief
from pinfold.memories.team.sharing import Team
from pinfold.memories.team.values import Picked, TeamLine
from pinfold.sanitize import one_line
from pinfold.small_files import read_text

TEAMS = "team"
"""The folder of teams, in that of memories and in that beside it."""
Kept = TypeVar("Kept")


class Copy(Struct, frozen=True):
    """What was pulled, after the check."""

    role: str = ""
    """Our database role."""
    owns: bool = False
    """Whether we may forget any line."""
    revision: int = 0
    pulled_at: float = 0.0
    """By this machine's clock."""
    lines: tuple[TeamLine, ...] = ()
    placed: tuple[Picked, ...] = ()
    tombstones: frozenset[str] = frozenset()
    """Lines that were forgotten for everybody."""
    hidden: frozenset[str] = frozenset()
    """Lines that were forgotten for us."""
    sources: dict[str, str] = field(default_factory=dict)
    """By line id, also of refused lines, the hash of what was pulled, so that it is not checked
    again."""
    left_out: int = 0
    """Lines that failed the check."""

    @property
    def by_id(self) -> dict[str, TeamLine]:
        return {line.id: line for line in self.lines if line.id not in self.gone}

    @property
    def gone(self) -> frozenset[str]:
        return self.tombstones | self.hidden


class TeamCopy:
    """The copy of one team in pinfold's home. Every function blocks and raises `OSError`."""

    def __init__(self, home: Path, team: Team) -> None:
        self.team = team
        self.files = home / "memories" / TEAMS / team.name
        self.work = home / "memories-work" / TEAMS / team.name

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the copy. Raises `MemoriesRefused`."""
        make_folder(self.files.parent)
        with locked(self.work):
            yield

    def read(self) -> Copy:
        return _read(self.work / "copy.json", Copy) or Copy()

    def write(self, copy: Copy) -> None:
        """Replace the copy and its files. Needs the lock."""
        kept = {line.id: line for line in copy.lines if line.id not in copy.gone}
        copy = replace(
            copy,
            lines=tuple(kept.values()),
            placed=tuple(place for place in copy.placed if place.line in kept),
        )
        # The files first: if interrupted, they have no line that the copy says is forgotten.
        for name, title in ((MEMORY, "# Memory"), (SUMMARY, "# Memory summary")):
            text = self._page(
                title, [kept[place.line] for place in copy.placed if place.file == name]
            )
            trees.put(self.files, name, text.encode())
        write_atomic(self.work / "copy.json", msgspec.json.encode(copy))

    def bury(self, tombstones: Collection[str], hidden: Collection[str]) -> None:
        """Remove forgotten lines from the copy and its files."""
        with self.locked():
            copy = self.read()
            if not {*tombstones, *hidden} <= copy.gone:
                self.write(
                    replace(
                        copy,
                        tombstones=copy.tombstones | frozenset(tombstones),
                        hidden=copy.hidden | frozenset(hidden),
                    )
                )

    def front(self, cwd: Path, most: int, count: Callable[[str], int]) -> str:
        """What a session in `cwd` is told of the team's lines, with at most `most` tokens of them;
        empty if there is nothing. What this machine has shared is left out."""
        try:
            every = reading.lines(read_text(self.files / SUMMARY, reading.MAX_BYTES))
        except FileNotFoundError:
            return ""
        ours = set(self.shared().values())
        known = {
            written(line): line
            for line in self.read().by_id.values()
            if not line.stale and line.id not in ours
        }
        fresh = [line for line in every if line.text in known]
        if not (chosen := reading.select(fresh, cwd, most, count)):
            return ""
        return prompt("team").format(
            team=self.team.name,
            file=f"{TEAMS}/{self.team.name}/{SUMMARY}",
            lines=reading.by_folder(chosen, lambda line: _shown(line.number, known[line.text])),
        )

    def drop(self) -> None:
        """Empty the copy; forgotten lines stay forgotten."""
        with self.locked():
            copy = self.read()
            self.write(Copy(tombstones=copy.tombstones, hidden=copy.hidden))

    def shared(self) -> dict[str, str]:
        """The lines that this machine shared: the id by the private line."""
        return _read(self.work / "shared.json", dict[str, str]) or {}

    def note_shared(self, session: str, lines: dict[str, str]) -> None:
        """Replace the shared lines of a session."""
        with self.locked():
            now = {line: key for line, key in self.shared().items() if f"{session}#" not in line}
            write_atomic(self.work / "shared.json", msgspec.json.encode({**now, **lines}))

    def _page(self, title: str, lines: Collection[TeamLine]) -> str:
        parts = [f"{title}\n"]
        folder = None
        for line in lines:
            if line.folder != folder:
                folder = line.folder
                parts.append(f"\n## {self.team.here(folder)}\n\n")
            parts.append(f"{written(line)}\n")
        return "".join(parts)


def written(line: TeamLine) -> str:
    """A line as it is in the files, with its owner's name."""
    statement = line.statement
    assert statement is not None
    return str(replace(statement, text=f"{owner_of(line)}: {statement.text}"))


def owner_of(line: TeamLine) -> str:
    """The owner's name, safe inside a line."""
    name = "".join(c if c.isalnum() or c in "._@-" else "_" for c in one_line(line.owner))
    return name[:63] or "somebody"


def _shown(number: int, line: TeamLine) -> str:
    """A line as the model reads it: `12 ben, fact: The limit is 40. [0198ab12-1234#7]`."""
    statement = line.statement
    assert statement is not None
    return brief(number, f"{owner_of(line)}, {statement.kind}", statement)


def _read(path: Path, kind: type[Kept]) -> Kept | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
