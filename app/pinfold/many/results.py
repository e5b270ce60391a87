"""Results, kept so that a second run does only what is new.

They lie in the cache, or as files in a folder that the user named; the cache then has their hashes.
The cache can be deleted at any time.
"""

import hashlib
import os
import sqlite3
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import zstandard

from pinfold import atomic_files
from pinfold.many.named import NamedSession

FILE = "results.db"
KEPT_DAYS = 30
"""Days since a result was last used."""
LARGEST = 64 << 20
"""Bytes of a result that the cache keeps."""


class Results(Protocol):
    """Results by `SessionWork.key` and session."""

    def has(self, key: str, session: NamedSession) -> bool: ...

    def get(self, key: str, session: NamedSession) -> bytes | None: ...

    def put(self, key: str, session: NamedSession, content: bytes) -> bool:
        """Whether it is kept. Raises `OSError` if the user must know that it is not."""
        ...


class Cache:
    """The results in `results.db` of a cache folder. If that can't be used, none are kept."""

    def __init__(self, folder: Path) -> None:
        self._database = _database_or_none(folder / FILE)
        self._packer, self._unpacker = zstandard.ZstdCompressor(), zstandard.ZstdDecompressor()

    def has(self, key: str, session: NamedSession) -> bool:  # noqa: ARG002
        return bool(self._rows("SELECT 1 FROM results WHERE key = ?", key))

    def get(self, key: str, session: NamedSession) -> bytes | None:  # noqa: ARG002
        rows = self._rows("SELECT content FROM results WHERE key = ?", key)
        if not rows:
            return None
        self._rows("UPDATE results SET used = ? WHERE key = ? AND used < ?", _day(), key, _day())
        try:
            return self._unpacker.decompress(rows[0][0], max_output_size=LARGEST)
        except zstandard.ZstdError:
            return None

    def put(self, key: str, session: NamedSession, content: bytes) -> bool:
        if len(content) > LARGEST:
            return False
        row = (key, session.path, _day(), self._packer.compress(content))
        done = self._rows("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?) RETURNING 1", *row)
        return bool(done)

    def forget(self, folder: Path) -> None:
        """Remove all results of the session in a folder."""
        first, last = f"{folder}/", f"{folder}0"  # all that begins with the first: 0 follows /
        self._rows("DELETE FROM results WHERE session >= ? AND session < ?", first, last)
        self._rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        if self._database is not None:
            self._database.close()

    def _rows(self, statement: str, *values: object) -> list[Any]:
        """The rows; none if the database can't be used."""
        with suppress(sqlite3.Error):
            if self._database is not None:
                return self._database.execute(statement, [*map(_storable_value, values)]).fetchall()
        return []


class Folder:
    """A file for each session below a folder, with the session's name."""

    def __init__(self, folder: Path, ending: str, cache: Cache) -> None:
        self._folder = folder
        self._ending = ending
        self._cache = cache
        self._taken: dict[str, str] = {}
        """The session that has each name."""

    def path(self, session: NamedSession) -> Path:
        """The file; part of a hash is added if another session has the same name."""
        name = session.stem
        if self._taken.setdefault(name, session.path) != session.path:
            name += f"-{_sha256(session.path.encode(errors='surrogateescape')).hex()[:8]}"
        return self._folder / f"{name}{self._ending}"

    def has(self, key: str, session: NamedSession) -> bool:
        return self.get(key, session) is not None

    def get(self, key: str, session: NamedSession) -> bytes | None:
        """The file's content, if that is still the session's result."""
        try:
            content = self.path(session).read_bytes()
        except OSError:
            return None
        kept = self._cache.get(self._key(key, session), session)
        return content if kept == _sha256(content) else None

    def put(self, key: str, session: NamedSession, content: bytes) -> bool:
        path = self.path(session)
        atomic_files.make_folder(path.parent)
        # Renamed, not synced: after a power failure, the hash shows what has to be done again.
        fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=".pinfold-", suffix=".tmp")
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(content)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        self._cache.put(self._key(key, session), session, _sha256(content))
        return True

    def _key(self, key: str, session: NamedSession) -> str:
        return f"{key} {self.path(session).absolute()}"


def _sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _storable_value(value: object) -> object:
    try:
        str(value).encode()
    except UnicodeEncodeError:
        return os.fsencode(str(value))
    return value


def _day() -> int:
    return int(time.time() // 86_400)


def _database_or_none(path: Path) -> sqlite3.Connection | None:
    for _ in range(2):
        try:
            atomic_files.make_folder(path.parent)
            path.touch(mode=0o600)
            return _prepared(sqlite3.connect(path, timeout=10, isolation_level=None))
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # locked, or no room
                return None
            for ending in ("", "-wal", "-shm"):  # it is damaged
                path.with_name(path.name + ending).unlink(missing_ok=True)
        except OSError:
            return None
    return None


def _prepared(database: sqlite3.Connection) -> sqlite3.Connection:
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute("PRAGMA secure_delete = ON")
    database.execute(
        "CREATE TABLE IF NOT EXISTS results "
        "(key TEXT PRIMARY KEY, session TEXT, used INTEGER, content BLOB) WITHOUT ROWID"
    )
    database.execute("CREATE INDEX IF NOT EXISTS by_session ON results (session)")
    database.execute("DELETE FROM results WHERE used < ?", (_day() - KEPT_DAYS,))
    return database
