"""The lines of memory files, and which of them a new session is told."""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from pinfold.memories.places import prompt
from pinfold.memories.statements import Citation, MemoryStatement, cited, parse, without_cites
from pinfold.numbers import ID_SHOWN
from pinfold.paths import repository_root
from pinfold.rollout import quotes
from pinfold.sanitize import one_line
from pinfold.small_files import read_text

MAX_BYTES = 2_000_000
"""Largest memory file, and file that is read to check a memory."""
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_UNCONFIRMED = "unconfirmed"
"""The beginning of the heading above lines that no record confirms."""


class MemoryLine(Struct, frozen=True):
    """A line of a memory file, neither a heading nor blank."""

    number: int
    """In its file, from 1."""
    text: str
    """The whole line."""
    folder: str = ""
    """The folder in the heading above it."""
    statement: MemoryStatement | None = None
    """None for the user's own words."""
    unconfirmed: bool = False
    """Whether no record confirms it."""

    @property
    def says(self) -> str:
        if self.statement:
            return self.statement.text
        return " ".join(without_cites(self.text).strip().lstrip("-*+ ").split())

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.text.strip().encode(errors="replace")).hexdigest()

    @property
    def cites(self) -> tuple[Citation, ...]:
        return self.statement.cites if self.statement else tuple(cited(self.text))


def lines(text: str) -> list[MemoryLine]:
    """The lines of a memory file in order, without headings and blank lines."""
    found: list[MemoryLine] = []
    folder, level, unconfirmed = "", 0, False
    for number, line in enumerate(text.split("\n"), 1):
        if heading := _HEADING.fullmatch(line.strip()):
            depth, name = len(heading[1]), heading[2].strip()
            if name.casefold().startswith(_UNCONFIRMED):
                unconfirmed = True
            if _folder(name) is not None:
                folder, level = name, depth
            elif depth <= level:
                folder = ""
        elif any(map(str.isalnum, line)):
            found.append(MemoryLine(number, line, folder, parse(line), unconfirmed))
    return found


class CitedSources:
    """Finds memories whose source has changed or is gone. Reads each file once. Blocking."""

    def __init__(
        self, folder_of: Callable[[str], str | None], confirmed: Collection[str] = ()
    ) -> None:
        """`folder_of` returns the folder that a session worked in; None if the session is gone,
        empty if the folder is unknown. `confirmed` are hashes of lines that are valid anyway."""
        self._folder_of = folder_of
        self._confirmed = confirmed
        self._texts: dict[Path, str | None] = {}

    def stale(self, line: MemoryLine) -> str:
        """Why a memory may be out of date; empty if it is not."""
        if self._confirmed and line.hash in self._confirmed:
            return ""
        folders = [self._folder_of(cite.session) for cite in line.cites]
        if folders and all(folder is None for folder in folders):
            return "its session was deleted"
        statement = line.statement
        if statement is None or not (statement.file and statement.quote):
            return ""
        known = list(dict.fromkeys(folder for folder in folders if folder))
        if known and not any(self._contains(statement, Path(session_id)) for session_id in known):
            return f"{one_line(statement.file)} no longer contains it"
        return ""

    def _contains(self, statement: MemoryStatement, folder: Path) -> bool:
        path = folder / statement.file
        if path not in self._texts:
            self._texts[path] = _text(path, folder)
        text = self._texts[path]
        return text is not None and quotes.find(statement.quote, text) is not None


def _text(path: Path, folder: Path) -> str | None:
    """The text of a file in `folder`; a memory must not make pinfold read any other file."""
    try:
        real = path.resolve()
        if not real.is_relative_to(folder.resolve()):
            return None
        return read_text(real, MAX_BYTES)
    except (OSError, RuntimeError, ValueError):
        return None


def select(
    every: Iterable[MemoryLine], cwd: Path, most: int, count: Callable[[str], int]
) -> list[MemoryLine]:
    """The lines that a session in `cwd` begins with, at most `most` tokens: those of this folder
    first, then those of its repository, then the rest."""
    root = repository_root(cwd) or cwd
    chosen: list[MemoryLine] = []
    for line in sorted(every, key=lambda memory_line: _distance(memory_line.folder, cwd, root)):
        tokens = count(shown(line)) + 1
        if tokens <= most:
            most -= tokens
            chosen.append(line)
    return chosen


def _folder(name: str) -> Path | None:
    """The folder that a heading names; None if it names none."""
    try:
        path = Path(name).expanduser()
    except RuntimeError:  # no such user
        return None
    return path if path.is_absolute() else None


def _distance(folder: str, cwd: Path, root: Path) -> int:
    path = _folder(folder)
    if path == cwd:
        return 0
    if path is not None and (path == root or path.is_relative_to(root)):
        return 1
    return 2 if path is None else 3


def shown(line: MemoryLine) -> str:
    """A line as the model reads it: `12 rule: Run make test. [0198ab12-1234#7]`."""
    if line.statement is None:
        return f"{line.number} {one_line(line.says)}"
    return brief(line.number, line.statement.kind, line.statement)


def brief(number: int, label: str, statement: MemoryStatement) -> str:
    """A statement on one line, with shortened session ids."""
    cites = ", ".join(f"{cite.session[:ID_SHOWN]}#{cite.item}" for cite in statement.cites)
    return f"{number} {label}: {one_line(statement.text)} [{cites}]"


def front(chosen: Sequence[MemoryLine], folder: Path) -> str:
    """What a session is told: how to use memories, then the lines by folder."""
    return prompt("read_path").format(folder=folder, lines=by_folder(chosen, shown))


def by_folder(chosen: Iterable[MemoryLine], show: Callable[[MemoryLine], str]) -> str:
    """Lines, as `show` writes them, below the names of their folders."""
    groups: dict[str, list[str]] = {}
    for line in chosen:
        groups.setdefault(line.folder, []).append(show(line))
    return "\n\n".join(
        "\n".join([f"In {one_line(name)}:" if name else "Anywhere:", *group])
        for name, group in groups.items()
    )
