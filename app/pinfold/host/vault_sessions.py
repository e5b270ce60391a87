"""The sessions of the vault, for the index of all sessions."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pinfold.adopt import detect
from pinfold.catalog import reading
from pinfold.catalog.reading import IndexChunk, SourceReading
from pinfold.rollout.journal import JournalError
from pinfold.rollout.walking import SessionPlace
from pinfold.vault.shelf import Shelf


class VaultSessions:
    def __init__(self, home: Path) -> None:
        self._home = home
        self._shelf = Shelf(home)

    def places(self) -> Sequence[tuple[SessionPlace, str, int]]:
        return list(self._places())

    def _places(self) -> Iterator[tuple[SessionPlace, str, int]]:
        for entry in self._shelf.entries():
            for version in entry.versions:
                file = self._shelf.file(entry, version).relative_to(self._home)
                yield SessionPlace(str(file), version.size, version.stamp[1]), entry.session, 0
                agents = (named for named in version.beside.items() if named[0].endswith(".jsonl"))
                for number, (name, (size, mtime_ns)) in enumerate(agents, 1):
                    path = self._shelf.beside(entry, version).relative_to(self._home) / name
                    yield SessionPlace(str(path), size, mtime_ns), entry.session, number

    def read(self, path: str) -> tuple[SourceReading, IndexChunk]:
        return _read(self._home / path)


def _read(file: Path) -> tuple[SourceReading, IndexChunk]:
    try:
        adoption = detect.read(file)
    except JournalError as error:
        raise OSError(str(error)) from error
    found, chunk = reading.of_events(adoption.events)
    found.said.title, found.said.cwd = adoption.title, adoption.cwd
    found.said.model = adoption.model
    return found, chunk
