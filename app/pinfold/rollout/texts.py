"""What was said in all sessions, to be searched: an FTS5 table in `state.db`."""

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from msgspec import Struct

from pinfold.rollout.events import ItemAdded
from pinfold.rollout.journal import ROLLOUT, Journal, JournalError
from pinfold.rollout.scan import scan

MAX_MESSAGE = 4_000
"""Characters that count of one prompt or reply."""
MAX_SESSION = 200_000
"""Characters that count of one session: its newest."""
FOUND = 300
"""Sessions that a search names."""
_BATCH = 25
"""Sessions that are read at a stretch."""
MATCH, MATCH_END = "\x02", "\x03"
"""They stand around what matched."""

_TABLES = """
CREATE TABLE IF NOT EXISTS texts_of (
    id INTEGER PRIMARY KEY, path TEXT UNIQUE, size INTEGER, mtime_ns INTEGER,
    prompt TEXT, reply TEXT
);
CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5(text);
"""


class Exchange(Struct, frozen=True):
    """The last prompt of a session and the last reply."""

    prompt: str = ""
    reply: str = ""


class Texts:
    """Blocking. Where the database is locked, broken or without FTS5, nothing is found."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def fill(self, folders: Sequence[Path]) -> Iterator[int]:
        """Read the sessions that changed, in this order; how many are left, now and then.

        What is known of sessions that are not among `folders` goes.
        """
        try:
            with self._open() as database:
                database.executescript(_TABLES)
                known = {
                    path: (key, size, age)
                    for key, path, size, age in database.execute(
                        "SELECT id, path, size, mtime_ns FROM texts_of"
                    )
                }
                here = {self._name(folder): folder for folder in folders}
                for path in known.keys() - here.keys():
                    _forget(database, known[path][0])
                database.commit()
                stale: list[tuple[str, Path, os.stat_result]] = []
                for path, folder in here.items():
                    with suppress(OSError):
                        stat = (folder / ROLLOUT).stat()
                        if known.get(path, ())[1:] != (stat.st_size, stat.st_mtime_ns):
                            stale.append((path, folder, stat))
                for start in range(0, len(stale), _BATCH):
                    yield len(stale) - start
                    batch = stale[start : start + _BATCH]
                    said = [_messages(folder) for _, folder, _ in batch]
                    # Written at a stretch: each commit waits for the disk.
                    for (path, _, stat), texts in zip(batch, said, strict=True):
                        if path in known:
                            _forget(database, known[path][0])
                        _add(database, path, stat, texts)
                    database.commit()
        except (sqlite3.Error, OSError):
            return

    def search(self, query: str) -> Mapping[str, str]:
        """The ids of sessions that hold words beginning like all of `query`'s, best first.

        Each with a piece of its text around a match, which is between `MATCH` and `MATCH_END`.
        """
        words = [word for word in query.split() if any(map(str.isalnum, word))]
        if not words:
            return {}
        match = " ".join('"{}"*'.format(word.replace('"', '""')) for word in words)
        with suppress(sqlite3.Error, OSError), self._open() as database:
            rows = database.execute(
                "SELECT path, snippet(texts, 0, ?, ?, '…', 24) FROM texts "
                "JOIN texts_of ON texts_of.id = texts.rowid WHERE texts MATCH ? "
                "ORDER BY rank LIMIT ?",
                (MATCH, MATCH_END, match, FOUND),
            )
            return {Path(path).name: piece for path, piece in rows}
        return {}

    def exchange(self, folder: Path) -> Exchange | None:
        """The last exchange of a session; None where it has not been read yet."""
        with suppress(sqlite3.Error, OSError), self._open() as database:
            row = database.execute(
                "SELECT prompt, reply FROM texts_of WHERE path = ?", (self._name(folder),)
            ).fetchone()
            return None if row is None else Exchange(*row)
        return None

    def forget(self, folder: Path) -> None:
        """What was said in a session that is deleted."""
        with suppress(sqlite3.Error, OSError), self._open() as database, database:
            name = self._name(folder)
            for (key,) in database.execute("SELECT id FROM texts_of WHERE path = ?", (name,)):
                _forget(database, key)

    def _name(self, folder: Path) -> str:
        return str(folder.relative_to(self._root))

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        database = self._root / "state.db"
        database.touch(mode=0o600)
        return closing(sqlite3.connect(database, timeout=1.0))


def _forget(database: sqlite3.Connection, key: int) -> None:
    database.execute("DELETE FROM texts WHERE rowid = ?", (key,))
    database.execute("DELETE FROM texts_of WHERE id = ?", (key,))


def _add(
    database: sqlite3.Connection, path: str, stat: os.stat_result, said: Sequence[tuple[bool, str]]
) -> None:
    last = dict(said)
    added = database.execute(
        "INSERT INTO texts_of (path, size, mtime_ns, prompt, reply) VALUES (?, ?, ?, ?, ?)",
        (path, stat.st_size, stat.st_mtime_ns, last.get(True, ""), last.get(False, "")),
    )
    text = "\n".join(text for _, text in said)[-MAX_SESSION:]
    database.execute("INSERT INTO texts (rowid, text) VALUES (?, ?)", (added.lastrowid, text))


def _messages(folder: Path) -> Sequence[tuple[bool, str]]:
    """Every prompt and reply, and whether it is a prompt."""
    said: list[tuple[bool, str]] = []
    with (
        suppress(JournalError, OSError),
        Journal.open(folder, partial(datetime.now, UTC), read_only=True) as journal,
    ):
        for event in scan(journal, ItemAdded):
            match event.data:
                case ItemAdded(item=item) if item.kind in ("user", "assistant") and item.content:
                    text = item.content[:MAX_MESSAGE].encode("utf-8", "replace").decode()
                    said.append((item.kind == "user", text))
    return said
