"""What a list of sessions shows of each: read from its rollout once, then cached in `state.db`."""

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec

from pinfold.rollout import events
from pinfold.rollout.journal import ROLLOUT, Journal, JournalError

_Key = tuple[str, int, int]
"""Path under the root, size, mtime_ns."""

_TITLE = 80
_TABLE = """
    CREATE TABLE IF NOT EXISTS sessions
    (path TEXT PRIMARY KEY, size INTEGER, mtime_ns INTEGER, said BLOB)
"""


class Said(msgspec.Struct, omit_defaults=True):
    """What a rollout says of its session."""

    cwd: str = ""
    title: str = ""
    """The first line of the first prompt; empty before it."""
    model: str = ""
    turns: int = 0
    tokens: int = 0
    """Input tokens of the last request: as the provider counted, else as estimated."""
    note: str = ""
    """Why the rollout could not be read in full; empty where it could."""


_said = msgspec.json.Decoder(Said)


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the list of sessions."""

    id: str
    folder: Path
    cwd: str
    title: str
    model: str
    turns: int
    tokens: int
    updated_at: datetime
    size: int
    """Bytes of the rollout."""
    note: str


def summarise(root: Path, folders: Sequence[Path]) -> list[SessionSummary]:
    """A summary for each of `folders` (all under `root`), in their order; none for those gone.

    The cache in `root` may be missing, locked or broken: then the rollouts themselves are read.
    """
    database = root / "state.db"
    cached = _cached(database)
    fresh: dict[_Key, Said] = {}
    summaries: list[SessionSummary] = []
    for folder in folders:
        try:
            stat = (folder / ROLLOUT).stat()
        except OSError:
            continue
        key = (str(folder.relative_to(root)), stat.st_size, stat.st_mtime_ns)
        said = cached.get(key)
        if said is None:
            said = fresh[key] = _listen(folder)
        summaries.append(
            SessionSummary(
                id=folder.name,
                folder=folder,
                updated_at=datetime.fromtimestamp(stat.st_mtime, UTC),
                size=stat.st_size,
                **msgspec.structs.asdict(said),
            )
        )
    if fresh:
        _cache(database, fresh)
    return summaries


def _cached(path: Path) -> dict[_Key, Said]:
    with suppress(sqlite3.Error, OSError, ValueError), _open(path) as database:
        rows = database.execute("SELECT path, size, mtime_ns, said FROM sessions")
        return {(path, size, age): _said.decode(said) for path, size, age, said in rows}
    return {}


def _cache(path: Path, fresh: dict[_Key, Said]) -> None:
    rows = [(*key, msgspec.json.encode(said)) for key, said in fresh.items()]
    with suppress(sqlite3.Error, OSError), _open(path) as database, database:
        database.execute(_TABLE)
        database.executemany("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)", rows)


def _open(path: Path) -> AbstractContextManager[sqlite3.Connection]:
    path.touch(mode=0o600)
    return closing(sqlite3.connect(path, timeout=0.2))


def _listen(folder: Path) -> Said:
    said = Said()
    try:
        with Journal.open(folder, partial(datetime.now, UTC), read_only=True) as journal:
            for event in journal.read():
                _take(said, event.data)
            if journal.size < journal.path.stat().st_size:
                said.note = "its last line is torn"
    except (JournalError, OSError) as error:
        said.note = str(error)
    return said


def _take(said: Said, data: events.Data) -> None:
    match data:
        case events.SessionStarted():
            said.cwd = data.cwd
        case events.ModelChanged():
            said.model = data.model
        case events.TurnStarted():
            said.turns += 1
        case events.RequestFinished(purpose="turn"):
            said.tokens = data.usage.input if data.usage else data.estimate
        case events.ItemAdded(item=item) if item.kind == "user" and not said.title:
            said.title = _title(item.content)
        case events.Unknown(type=events.UNREADABLE):
            said.note = "some lines can't be read"
        case _:
            pass


def _title(prompt: str) -> str:
    line = next((line for line in prompt.splitlines() if line.strip()), "")
    shown = "".join(char if char.isprintable() else " " for char in line.strip())
    return shown if len(shown) <= _TITLE else shown[: _TITLE - 1] + "…"
