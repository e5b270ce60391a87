"""The SQLite file of memories: transactions that lock it first, errors as sentences."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from pinfold.atomic_files import make_folder
from pinfold.memories.places import DATABASE
from pinfold.memories.records import StateError
from pinfold.memories.schema import VERSION, migrate, version_of

_BUSY = 10.0
"""Seconds to wait for another process's transaction."""


class MemoriesDatabase:
    """`memories.db` in a folder, of the newest version. Raises `StateError`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / DATABASE
        with self._plainly():
            make_folder(folder)
            # SQLite gives the files beside it the same mode.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        self._engine = create_engine(
            URL.create("sqlite", database=str(self.path)), connect_args={"timeout": _BUSY}
        )
        event.listen(self._engine, "connect", _connected)
        event.listen(self._engine, "begin", _begun)
        try:
            with self.writing() as conn:
                if version_of(conn) > VERSION:
                    raise StateError(
                        f"{self.path} was written by a newer version of pinfold; update pinfold."
                    )
                migrate(conn)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction; nobody else writes meanwhile. Undone if the block raises."""
        with self._plainly(), self._engine.begin() as conn:
            yield conn

    def clean(self) -> None:
        """Remove deleted rows from the write-ahead log too, unless somebody is reading it."""
        with self._plainly():
            raw = self._engine.raw_connection()
            try:
                raw.driver_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # type: ignore[union-attr]
            finally:
                raw.close()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._plainly(), self._engine.connect() as conn:
            yield conn.execution_options(pinfold_reads=True)

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StateError(f"{self.path} can't be opened: {error.strerror or error}.") from error
        except DBAPIError as error:
            raise StateError(f"{self.path} can't be used: {_reason(str(error.orig))}.") from error
        except SQLAlchemyError as error:
            raise StateError(f"{self.path} can't be used: {_reason(str(error))}.") from error


def _connected(connection: Any, _: object) -> None:
    connection.isolation_level = None  # `_begun` begins transactions, not the driver
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")  # what is forgotten leaves the file


def _begun(conn: Connection) -> None:
    reads = conn.get_execution_options().get("pinfold_reads")
    conn.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _reason(why: str) -> str:
    match why:
        case "database is locked":
            return "another process keeps it locked"
        case "file is not a database" | "database disk image is malformed":
            return "it is damaged; move it away to start again"
        case _:
            return why.partition("\n")[0].rstrip(".")
