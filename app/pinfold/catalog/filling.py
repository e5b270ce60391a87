"""Updates the index from the disk: first the list of files, then their text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from operator import itemgetter
from pathlib import Path
from time import monotonic

import msgspec

from pinfold.adopt.adoption import NotASession
from pinfold.catalog import reading
from pinfold.catalog.database import CatalogDatabase, writing
from pinfold.catalog.reading import IndexChunk, IndexedText, SourceReading
from pinfold.catalog.sqlite import sqlite3
from pinfold.rollout import walking
from pinfold.rollout.journal import ROLLOUT, Journal, JournalError
from pinfold.rollout.summaries import RolloutSummary
from pinfold.rollout.walking import SessionPlace
from pinfold.sanitize import encodable

BATCH = 2_000_000
"""Characters that are written in one transaction."""
_BATCH_SECONDS = 1.0
"""Seconds after which a batch is written, however small."""
COMPLETE = "complete"
"""Row of the table `state`: all sessions on the disk are in `sources`."""
_COUNTER_BITS = 20
_LAST_MS = 1 << 42

ReadVault = Callable[[str], tuple[SourceReading, IndexChunk]]
"""Reads an entry of the vault. Raises `NotASession`, `OSError`."""


class SourceRow(msgspec.Struct, frozen=True):
    """A row of `sources` whose session has to be read."""

    id: int
    path: str
    kind: str
    session: str
    size: int
    mtime_ns: int
    said: bytes | None
    prompt: str
    reply: str
    read_to: int


class ReadPart(msgspec.Struct, frozen=True):
    """What one read of a source added."""

    source: SourceRow
    reading: SourceReading
    chunk: IndexChunk
    anew: bool = False
    """Whether it replaces what was indexed of the source."""
    ended: bool = False


def check(root: Path, database: CatalogDatabase, seconds: float | None = None) -> bool:
    """Compare `sources` with the disk, newest day first. False if `seconds` were not enough.

    Raises `sqlite3.Error`, `OSError`.
    """
    until = None if seconds is None else monotonic() + seconds
    return database.run(lambda connection: _check(root, connection, until))


def _check(root: Path, connection: sqlite3.Connection, until: float | None) -> bool:
    seen = set()
    for day, found in walking.days(root):
        if until is not None and monotonic() > until:
            return False
        seen.add(day)
        _check_day(connection, day, found)
    known = connection.execute(
        "SELECT DISTINCT substr(path, 1, length(path) - length(session) - 1) FROM sources "
        "WHERE kind = 'session'"
    ).fetchall()
    gone = [day for (day,) in known if day not in seen]
    for day in gone:
        _check_day(connection, day, [])
    with writing(connection):
        connection.execute("INSERT OR REPLACE INTO state VALUES (?, 1)", (COMPLETE,))
    return True


def _check_day(connection: sqlite3.Connection, day: str, found: Sequence[SessionPlace]) -> None:
    rows = connection.execute(
        # The plus has SQLite look up the paths, not read all sessions by their kind.
        "SELECT path, size, mtime_ns FROM sources "
        "WHERE +kind = 'session' AND path > ? AND path < ?",
        (f"{day}/", f"{day}0"),
    )
    _update_sources(
        connection, "session", rows, ((place, place.path[len(day) + 1 :], 0) for place in found)
    )


_PLACED = (
    "INSERT INTO sources (path, kind, session, agent, size, mtime_ns) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns"
)


def set_sources(
    connection: sqlite3.Connection, kind: str, found: Sequence[tuple[SessionPlace, str, int]]
) -> None:
    """Make these all sources of a kind outside `sessions/`, with their sessions and agents."""
    rows = connection.execute("SELECT path, size, mtime_ns FROM sources WHERE kind = ?", (kind,))
    _update_sources(connection, kind, rows, found)


def _update_sources(
    connection: sqlite3.Connection,
    kind: str,
    rows: Iterable[tuple[str, int, int]],
    found: Iterable[tuple[SessionPlace, str, int]],
) -> None:
    """Replace `rows` of `sources` by what was `found`, where they differ."""
    known = {path: (size, mtime_ns) for path, size, mtime_ns in rows}
    changed = [
        (at.path, kind, session, agent, at.size, at.mtime_ns)
        for at, session, agent in found
        if known.pop(at.path, None) != (at.size, at.mtime_ns)
    ]
    if changed or known:
        with writing(connection):
            for path in known:
                remove(connection, path)
            connection.executemany(_PLACED, changed)


def remove(connection: sqlite3.Connection, path: str) -> int:
    """Delete a source and those below it, with their words. Returns how many there were."""
    ids = [
        source
        for (source,) in connection.execute(
            "SELECT id FROM sources WHERE path = ? OR (path > ? AND path < ?)",
            (path, f"{path}/", f"{path}0"),
        )
    ]
    for source in ids:
        _empty(connection, source)
        connection.execute("DELETE FROM sources WHERE id = ?", (source,))
    return len(ids)


def _empty(connection: sqlite3.Connection, source: int) -> None:
    connection.execute(
        "DELETE FROM texts WHERE rowid IN (SELECT id FROM items WHERE source = ?)", (source,)
    )
    connection.execute("DELETE FROM items WHERE source = ?", (source,))


def unread(connection: sqlite3.Connection) -> int:
    """How many sources have to be read."""
    row = connection.execute(
        "SELECT count(*) FROM sources WHERE read_size != size OR read_mtime_ns != mtime_ns"
    ).fetchone()
    return int(row[0])


class IndexFiller:
    """Reads what is unread, newest first, and writes it in batches."""

    def __init__(self, root: Path, database: CatalogDatabase, read_vault: ReadVault | None) -> None:
        self._root = root
        self._database = database
        self._read_vault = read_vault
        self._parts: list[ReadPart] = []
        """Read and not yet written."""
        self._size = 0
        self._since = monotonic()

    def run(self) -> Iterator[int]:
        """Yields how many are left, or -1 if not counted. Raises `sqlite3.Error`, `OSError`."""
        tried: set[tuple[int, int, int]] = set()
        while found := self._database.run(lambda connection: _stale(connection, tried)):
            for source in found:
                tried.add((source.id, source.size, source.mtime_ns))
                for part in self._read(source):
                    self._parts.append(part)
                    self._size += part.chunk.size + 200
                    if self._size > BATCH or monotonic() - self._since > _BATCH_SECONDS:
                        self._write()
                        yield self._database.run(unread)
                    else:
                        yield -1
            self._write()
        yield 0

    def _read(self, source: SourceRow) -> Iterator[ReadPart]:
        if source.kind == "vault":
            assert self._read_vault is not None
            try:
                done, chunk = self._read_vault(source.path)
            except (NotASession, OSError) as error:
                done, chunk = SourceReading(RolloutSummary(note=str(error))), IndexChunk([], {})
            yield ReadPart(source, done, chunk, anew=True, ended=True)
            return
        folder = self._root / source.path
        anew = source.size < source.read_to  # it was truncated
        going = SourceReading(RolloutSummary())
        if not anew:
            said = reading.said_of(source.said)
            going = SourceReading(said, source.read_to, source.prompt, source.reply)
        try:
            if not going.read_to:
                Journal.open(folder, partial(datetime.now, UTC), read_only=True).close()
            for chunk in reading.rollout(folder / ROLLOUT, going, BATCH):
                yield ReadPart(source, _copied(going), chunk, anew=anew)
                anew = False
            yield ReadPart(source, going, IndexChunk([], {}), ended=True)
        except (JournalError, OSError) as error:
            yield ReadPart(
                source,
                SourceReading(RolloutSummary(note=str(error))),
                IndexChunk([], {}),
                True,
                True,
            )

    def _write(self) -> None:
        parts, self._parts, self._size, self._since = self._parts, [], 0, monotonic()
        if parts:
            self._database.run(lambda connection: self._written(connection, parts))

    def _written(self, connection: sqlite3.Connection, parts: Sequence[ReadPart]) -> None:
        with writing(connection):
            texts: list[tuple[int, IndexedText]] = []
            for part in parts:
                source = part.source
                # Checked inside the transaction: who deletes a session later finds its words.
                if not self._is_there(source):
                    remove(connection, source.path)
                    texts = [(of, text) for of, text in texts if of != source.id]
                    continue
                if part.anew:
                    _empty(connection, source.id)
                _update(connection, part)
                texts += [(source.id, text) for text in part.chunk.texts]
                for session, number in part.chunk.agents.items():
                    self._place_agent(connection, source, session, number)
                if source.kind == "session" and part.ended:
                    self._refresh_agents(connection, source)
            _add(connection, texts)

    def _is_there(self, source: SourceRow) -> bool:
        path = self._root / source.path
        return (path if source.kind == "vault" else path / ROLLOUT).exists()

    def _place_agent(
        self, connection: sqlite3.Connection, source: SourceRow, session: str, number: int
    ) -> None:
        name = Path(session).name  # a rollout may contain anything
        found = walking.stamp(self._root, f"{source.path}/agents/{name}") if name else None
        if found is not None:
            row = (found.path, "agent", source.session, number, found.size, found.mtime_ns)
            connection.execute(_PLACED, row)

    def _refresh_agents(self, connection: sqlite3.Connection, source: SourceRow) -> None:
        for found in walking.agents(self._root, source.path):
            connection.execute(
                "UPDATE sources SET size = ?, mtime_ns = ? WHERE path = ?",
                (found.size, found.mtime_ns, found.path),
            )


def _stale(connection: sqlite3.Connection, tried: set[tuple[int, int, int]]) -> list[SourceRow]:
    rows = connection.execute(
        "SELECT id, path, kind, session, size, mtime_ns, said, prompt, reply, read_to "
        "FROM sources WHERE read_size != size OR read_mtime_ns != mtime_ns "
        "ORDER BY mtime_ns DESC LIMIT 200"
    )
    found = [SourceRow(*row) for row in rows]
    return [source for source in found if (source.id, source.size, source.mtime_ns) not in tried]


def _update(connection: sqlite3.Connection, part: ReadPart) -> None:
    source, read = part.source, part.reading
    connection.execute(
        "UPDATE sources SET cwd = ?, said = ?, prompt = ?, reply = ?, read_to = ?, "
        "read_size = ?, read_mtime_ns = ? WHERE id = ?",
        (
            encodable(read.said.cwd),
            msgspec.json.encode(read.said),
            read.prompt,
            read.reply,
            read.read_to,
            source.size if part.ended else -1,
            source.mtime_ns if part.ended else -1,
            source.id,
        ),
    )


def _copied(read: SourceReading) -> SourceReading:
    return msgspec.structs.replace(read, said=msgspec.structs.replace(read.said))


def _add(connection: sqlite3.Connection, texts: Sequence[tuple[int, IndexedText]]) -> None:
    """Insert texts under ids that grow with their time, so that newest first needs no sort."""
    rows = sorted(((_id(source, text), source, text) for source, text in texts), key=itemgetter(0))
    last = -1
    for wanted, source, text in rows:
        number = max(wanted, last + 1)
        while connection.execute("SELECT 1 FROM items WHERE id = ?", (number,)).fetchone():
            number += 1
        last = number
        connection.execute(
            "INSERT INTO items VALUES (?, ?, ?, ?)", (number, source, text.n, text.kind)
        )
        connection.execute("INSERT INTO texts (rowid, text) VALUES (?, ?)", (number, text.text))


def _id(source: int, text: IndexedText) -> int:
    ms = 0
    with suppress(ValueError, OverflowError, OSError):
        ms = int(text.at.timestamp() * 1_000)
    ms = min(max(ms, 0), _LAST_MS - 1)
    return ms << _COUNTER_BITS | (source * 7_919 + text.n) % (1 << _COUNTER_BITS)


def time_of(number: int) -> datetime:
    """When the item with this id was added to its session."""
    return datetime.fromtimestamp((number >> _COUNTER_BITS) / 1_000, UTC)
