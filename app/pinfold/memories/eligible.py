"""Which sessions memories are made from."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from pathlib import Path

from pinfold.memories.records import SessionCandidate
from pinfold.rollout import codec
from pinfold.rollout.events import SessionStarted
from pinfold.rollout.hold import is_held
from pinfold.rollout.journal import ROLLOUT
from pinfold.rollout.store import SessionStore
from pinfold.settings import MemorySettings

SCANNED = 1_000
"""Sessions that are considered, newest first."""
_HEAD = 65_536
"""Longest first line in bytes."""


def eligible(
    store: SessionStore, settings: MemorySettings, now: datetime, but: Collection[str] = ()
) -> Iterator[SessionCandidate]:
    """The sessions of the right age that are not open anywhere, last used first, without `but`.

    Those that have not changed since they were read are among them: `MemoriesState` knows which.
    """
    for folder in store.folders()[:SCANNED]:
        candidate = _candidate(folder, settings)
        if candidate is None or folder.name in but:
            continue
        age = now.timestamp() - candidate.source_updated_at
        if age > settings.max_rollout_age_days * 86_400:
            return
        if age >= settings.min_rollout_idle_hours * 3_600:
            yield candidate


def chosen(
    folders: Iterable[Path], settings: MemorySettings, but: Collection[str] = ()
) -> Iterator[SessionCandidate]:
    """The sessions in these folders that may be read, however old, without `but`."""
    for folder in folders:
        candidate = _candidate(folder, settings)
        if candidate is not None and folder.name not in but:
            yield candidate


def _candidate(folder: Path, settings: MemorySettings) -> SessionCandidate | None:
    """The session, if it may be read and is not open anywhere."""
    path = folder / ROLLOUT
    try:
        updated = path.stat().st_mtime
        started = None if is_held(folder) else _started(path)
    except OSError:
        return None
    sources = {"shell", "adopted"} if settings.include_adopted else {"shell"}
    if started is None or started.begun_by not in sources:
        return None
    return SessionCandidate(folder.name, str(path), started.cwd, updated)


def _started(path: Path) -> SessionStarted | None:
    with path.open("rb") as file:
        line = file.readline(_HEAD).rstrip(b"\n")
    try:
        data = codec.decode(line).data
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, SessionStarted) else None
