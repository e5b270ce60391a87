"""The index: one SQLite file that can be deleted at any time.

Without SQLAlchemy: it does not know FTS5, and importing it would delay every list.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from pinfold.atomic_files import make_folder
from pinfold.catalog.sqlite import SECURE, sqlite3

SCHEMA = 2 if SECURE else 1
"""Raised with each change of the tables: a file of another version is deleted."""
BUSY = 5.0
"""Seconds to wait for another process's transaction."""
OPTIMIZING = 10.0
"""Seconds for removing deleted words from the file; if they are not enough, the file is deleted."""
_STEPS = 100_000
"""Instructions of SQLite's virtual machine between two looks at the clock."""

_TABLES = """
CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    session TEXT NOT NULL,
    agent INTEGER NOT NULL DEFAULT 0,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    cwd TEXT NOT NULL DEFAULT '',
    said BLOB,
    prompt TEXT NOT NULL DEFAULT '',
    reply TEXT NOT NULL DEFAULT '',
    read_to INTEGER NOT NULL DEFAULT 0,
    read_size INTEGER NOT NULL DEFAULT -1,
    read_mtime_ns INTEGER NOT NULL DEFAULT -1
);
CREATE INDEX newest ON sources (kind, mtime_ns);
CREATE INDEX here ON sources (kind, cwd, mtime_ns);
CREATE INDEX of_session ON sources (session);
CREATE INDEX unread ON sources (mtime_ns)
    WHERE read_size != size OR read_mtime_ns != mtime_ns;
CREATE TABLE items (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, n INTEGER NOT NULL,
    kind TEXT NOT NULL);
CREATE INDEX items_of ON items (source);
CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'unicode61 remove_diacritics 2');
"""

T = TypeVar("T")


class CatalogDatabase:
    """Opened for each use. A file that is damaged or of another version is replaced."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `work`. If the file is damaged, `work` runs again on a new one.

        Raises `sqlite3.Error`, `OSError`.
        """
        try:
            with closing(self._opened()) as connection:
                return work(connection)
        except sqlite3.OperationalError:  # locked, or the disk is full: nothing is damaged
            raise
        except sqlite3.DatabaseError:
            self.throw_away()
        with closing(self._opened()) as connection:
            return work(connection)

    def purge(self) -> None:
        """Remove the words of deleted rows from the file too."""
        try:
            self.run(_purge)
        except sqlite3.Error:
            self.throw_away()

    def throw_away(self) -> None:
        """Delete the file; the next use makes a new one."""
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _opened(self) -> sqlite3.Connection:
        make_folder(self.path.parent)
        self.path.touch(mode=0o600)  # SQLite gives the files beside it the same mode
        connection = sqlite3.connect(self.path, timeout=BUSY, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                _make(connection)
            elif version != SCHEMA:
                raise sqlite3.DatabaseError("another version")
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction; nobody else writes meanwhile."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _make(connection: sqlite3.Connection) -> None:
    with writing(connection):
        if connection.execute("PRAGMA user_version").fetchone()[0]:
            return  # another process made them
        for statement in _TABLES.split(";\n"):
            connection.execute(statement)
        if SECURE:
            connection.execute("INSERT INTO texts (texts, rank) VALUES ('secure-delete', 1)")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _purge(connection: sqlite3.Connection) -> None:
    if not SECURE:
        _merge(connection)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _merge(connection: sqlite3.Connection) -> None:
    """Rewrite the index without what was deleted. Raises `sqlite3.Error` after `OPTIMIZING`."""
    from time import monotonic

    until = monotonic() + OPTIMIZING
    connection.set_progress_handler(lambda: monotonic() > until, _STEPS)
    try:
        connection.execute("INSERT INTO texts (texts) VALUES ('optimize')")
    finally:
        connection.set_progress_handler(None, 0)
