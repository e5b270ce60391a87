"""A cache of what was read from files, in a table of `state.db`, until a file changes."""

import sqlite3
from collections.abc import Mapping
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

Key = tuple[str, int, int]
"""Path, size, mtime_ns."""

T = TypeVar("T")


class FileCache(Generic[T]):
    """If the database is missing, locked or broken, nothing is cached."""

    def __init__(self, database: Path, table: str, kind: type[T]) -> None:
        """`kind` is a msgspec struct. Fields that it gains need defaults."""
        self._database = database
        self._table = table
        self._decoder = msgspec.json.Decoder(kind)

    def read(self) -> dict[Key, T]:
        """All that is kept."""
        with suppress(sqlite3.Error, OSError, ValueError), self._open() as database:
            rows = database.execute(f"SELECT path, size, mtime_ns, said FROM {self._table}")  # noqa: S608
            decode = self._decoder.decode
            return {(path, size, age): decode(said) for path, size, age, said in rows}
        return {}

    def add(self, fresh: Mapping[Key, T]) -> None:
        """Add these, in place of older entries of the same paths."""
        if not fresh:
            return
        rows = []
        for (path, *stamp), said in fresh.items():
            with suppress(UnicodeEncodeError):  # some names of files are no text
                rows.append((path.encode().decode(), *stamp, msgspec.json.encode(said)))
        with suppress(sqlite3.Error, OSError), self._open() as database, database:
            database.execute(
                f"CREATE TABLE IF NOT EXISTS {self._table} "
                "(path TEXT PRIMARY KEY, size INTEGER, mtime_ns INTEGER, said BLOB)"
            )
            database.executemany(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?, ?, ?)", rows)  # noqa: S608

    def forget(self, path: str) -> None:
        """Remove the entry of a deleted file."""
        with suppress(sqlite3.Error, OSError), self._open() as database, database:
            database.execute(f"DELETE FROM {self._table} WHERE path = ?", (path,))  # noqa: S608

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        self._database.touch(mode=0o600)
        return closing(sqlite3.connect(self._database, timeout=0.2))
