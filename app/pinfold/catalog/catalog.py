"""All sessions of a home, listed and searched through an index that is checked against the disk."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from heapq import nlargest
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from pinfold.atomic_files import make_folder
from pinfold.catalog import filling, reading, searching
from pinfold.catalog.database import CatalogDatabase, writing
from pinfold.catalog.filling import COMPLETE, IndexFiller
from pinfold.catalog.reading import IndexChunk, SourceReading
from pinfold.catalog.searching import SearchHit
from pinfold.catalog.sqlite import sqlite3
from pinfold.rollout import walking
from pinfold.rollout.disk import started
from pinfold.rollout.journal import ROLLOUT
from pinfold.rollout.summaries import SessionSummary, summary
from pinfold.rollout.walking import SessionPlace

LOOKING = 0.2
"""Seconds that a list spends on comparing the index with the disk."""
_MAPPED = 4 * 2**30
"""Bytes of the index that a search maps into memory."""
UNUSED = 100
"""Sessions without a prompt that a list read from the disk allows for."""
_LOCKED = 0.3
"""Seconds between two checks of another process's progress."""


class LastExchange(Struct, frozen=True):
    """The last prompt and the last reply of a session."""

    prompt: str = ""
    reply: str = ""


class SearchResult(Struct, frozen=True):
    """The result of a search."""

    hits: Sequence[SearchHit]
    common: Sequence[str] = ()
    """Words that were searched in the newest items only."""
    unread: int = 0
    """Sessions that are not indexed yet."""


class Vault(Protocol):
    """Sessions outside `sessions/` that are searched as well."""

    def places(self) -> Sequence[tuple[SessionPlace, str, int]]:
        """Its files, each with its session's id and the number of the agent."""
        ...

    def read(self, path: str) -> tuple[SourceReading, IndexChunk]:
        """Raises `NotASession`, `OSError`."""
        ...


class Catalog:
    """Blocking. If the index can't be used, lists are read from the disk, and nothing is found."""

    def __init__(self, root: Path, file: Path, vault: Vault | None = None) -> None:
        """The sessions under `root`, indexed in `file`."""
        self._root = root
        self._database = CatalogDatabase(file)
        self._vault = vault

    # The list

    def list(self, limit: int, cwd: str | None = None) -> Sequence[SessionSummary]:
        """The sessions last used (in `cwd`, if given), newest first: `limit` that have a prompt or
        a note, and those between them.

        No deleted session is among them. A new one usually is: the newest days are compared with
        the disk for `LOOKING` seconds; `check` compares all.
        """
        try:
            if self._database.run(_is_complete):
                filling.check(self._root, self._database, LOOKING)
                return self._database.run(lambda database: self._page(database, limit, cwd))
        except (sqlite3.Error, OSError):
            pass
        return self._page_of_disk(limit, cwd)

    def check(self) -> bool:
        """Compare the whole index with the disk. False if the index can't be used."""
        try:
            return filling.check(self._root, self._database)
        except (sqlite3.Error, OSError):
            return False

    def count(self) -> int:
        """The number of sessions."""
        sql = "SELECT count(*) FROM sources WHERE kind = 'session'"
        with suppress(sqlite3.Error, OSError):
            return int(self._database.run(lambda database: database.execute(sql).fetchone()[0]))
        return sum(1 for _ in walking.places(self._root))

    def sessions(self, ids: Sequence[str]) -> Sequence[SessionSummary]:
        """Those of these sessions that exist."""
        with suppress(sqlite3.Error, OSError):
            return self._database.run(lambda database: self._of_ids(database, ids))
        return []

    def exchange(self, session: str) -> LastExchange | None:
        """The last exchange of a session; None if it is not indexed yet."""
        sql = "SELECT prompt, reply FROM sources WHERE session = ? AND kind = 'session' "
        sql += "AND read_to > 0"
        with suppress(sqlite3.Error, OSError):
            row = self._database.run(lambda database: database.execute(sql, (session,)).fetchone())
            return None if row is None else LastExchange(*row)
        return None

    def _page(
        self, database: sqlite3.Connection, limit: int, cwd: str | None
    ) -> Sequence[SessionSummary]:
        rows = database.execute(
            "SELECT path, said, read_size, read_mtime_ns FROM sources WHERE kind = 'session' "
            "AND (:cwd IS NULL OR cwd = :cwd OR said IS NULL) "
            "ORDER BY mtime_ns DESC, session DESC",
            {"cwd": cwd},
        )
        lines = (
            self._summary(path, *stored)
            for path, *stored in rows
            if stored[0] is not None or self._began_in(path, cwd)
        )
        return _first(limit, lines)

    def _began_in(self, path: str, cwd: str | None) -> bool:
        if cwd is None:
            return True
        first = started(self._root / path)
        return first is not None and first.cwd == cwd

    def _of_ids(self, database: sqlite3.Connection, ids: Sequence[str]) -> Sequence[SessionSummary]:
        found = []
        for session in ids:
            row = database.execute(
                "SELECT path, said, read_size, read_mtime_ns FROM sources "
                "WHERE session = ? AND kind = 'session'",
                (session,),
            ).fetchone()
            if row is not None and (line := self._summary(*row)) is not None:
                found.append(line)
        return found

    def _summary(
        self, path: str, said: bytes | None, size: int, mtime_ns: int
    ) -> SessionSummary | None:
        now = walking.stamp(self._root, path)
        if now is None:
            return None
        known = said is not None and (now.size, now.mtime_ns) == (size, mtime_ns)
        return summary(self._root / path, reading.said_of(said) if known else None)

    def _page_of_disk(self, limit: int, cwd: str | None) -> Sequence[SessionSummary]:
        every = walking.places(self._root)
        newest: Sequence[SessionPlace]
        if cwd is None:
            most = limit + UNUSED
            newest = nlargest(most, every, key=lambda at: (at.mtime_ns, Path(at.path).name))
        else:
            newest = sorted(every, key=lambda at: (-at.mtime_ns, at.path))
        here = (at.path for at in newest if self._began_in(at.path, cwd))
        return _first(limit, (summary(self._root / path) for path in here))

    # The search

    def fill(self) -> Iterator[int]:
        """Read what changed, newest first. Yields how many sessions are left, or -1 if not counted.

        Can be stopped at any time: what was read is kept. Waits if another process does it.
        """
        from filelock import FileLock, Timeout

        try:
            make_folder(self._database.path.parent)
            lock = FileLock(self._database.path.with_suffix(".lock"), mode=0o600)
            while True:
                try:
                    with lock.acquire(timeout=_LOCKED):
                        yield from self._fill()
                    return
                except Timeout:
                    yield self._database.run(filling.unread)
        except (sqlite3.Error, OSError):
            return

    def _fill(self) -> Iterator[int]:
        filling.check(self._root, self._database)
        vault = self._vault
        if vault is not None:
            places = vault.places()
            self._database.run(lambda database: filling.set_sources(database, "vault", places))
        yield from IndexFiller(self._root, self._database, vault.read if vault else None).run()

    def search(self, typed: str, limit: int, now: datetime) -> SearchResult:
        """The items that contain all words, best first; the last word may be a beginning.

        Raises `sqlite3.Error`, `OSError` if there can be no index.
        """
        return self._database.run(lambda database: self._search(database, typed, limit, now))

    def search_sessions(self, typed: str, limit: int, now: datetime) -> Mapping[str, str]:
        """The ids of the sessions that contain the words, best first, each with a snippet."""
        with suppress(sqlite3.Error, OSError):
            found: dict[str, str] = {}
            for hit in self.search(typed, limit, now).hits:
                if hit.kind == "session":
                    found.setdefault(hit.session, hit.piece)
            return found
        return {}

    def _search(
        self, database: sqlite3.Connection, typed: str, limit: int, now: datetime
    ) -> SearchResult:
        database.execute(f"PRAGMA mmap_size = {_MAPPED}")
        unread = filling.unread(database)
        asked = searching.query(database, typed)
        if asked is None:
            return SearchResult((), (), unread)
        found = searching.candidates(database, asked, now, limit)
        shown: list[SearchHit] = []
        for number, hit in searching.hits(database, found):
            if self._is_there(hit):
                piece = searching.piece(database, asked, number)
                shown.append(replace(hit, piece=piece, path=str(self._root / hit.path)))
            if len(shown) == limit:
                break
        common = tuple(term.strip('"*').replace('""', '"') for term in asked.common)
        return SearchResult(shown, common, unread)

    def _is_there(self, hit: SearchHit) -> bool:
        path = self._root / hit.path
        return (path if hit.kind == "vault" else path / ROLLOUT).exists()

    def forget(self, path: Path) -> None:
        """Remove a deleted session (or an entry of the vault) from the index at once."""
        if not self._database.path.exists():
            return
        name = str(path.relative_to(self._root))
        try:
            if self._database.run(lambda database: _removed(database, name)):
                self._database.purge()
        except (sqlite3.Error, OSError, UnicodeEncodeError):
            self._database.throw_away()


def _first(limit: int, lines: Iterable[SessionSummary | None]) -> Sequence[SessionSummary]:
    found: list[SessionSummary] = []
    used = 0
    for line in lines:
        if line is not None:
            found.append(line)
            used += bool(line.title or line.note)
        if used == limit:
            break
    return found


def _removed(database: sqlite3.Connection, name: str) -> int:
    with writing(database):
        return filling.remove(database, name)


def _is_complete(database: sqlite3.Connection) -> bool:
    row = database.execute("SELECT value FROM state WHERE name = ?", (COMPLETE,)).fetchone()
    return row is not None
