"""Which sessions a memory may be made of."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct

from pinfold.memories.records import SessionCandidate
from pinfold.rollout import codec
from pinfold.rollout.events import SessionStarted
from pinfold.rollout.hold import is_held
from pinfold.rollout.journal import ROLLOUT
from pinfold.rollout.store import SessionStore
from pinfold.settings import MemorySettings

SCANNED = 1_000
"""Sessions that are looked at, the newest first."""
_HEAD = 65_536
"""Bytes of a first line."""


class Rules(Struct, frozen=True):
    """What the settings say."""

    max_age: timedelta
    min_idle: timedelta
    adopted: bool = False
    """Whether sessions of other tools count."""


def rules(settings: MemorySettings) -> Rules:
    return Rules(
        max_age=timedelta(days=settings.max_rollout_age_days),
        min_idle=timedelta(hours=settings.min_rollout_idle_hours),
        adopted=settings.include_adopted,
    )


def eligible(
    store: SessionStore, rules: Rules, now: datetime, but: Collection[str] = ()
) -> Iterator[SessionCandidate]:
    """The sessions that are old enough, not too old, and open nowhere, last used first; not `but`.

    Whether one has changed since it was read last, the state knows.
    """
    for folder in store.folders()[:SCANNED]:
        candidate = _candidate(folder, rules)
        if candidate is None or folder.name in but:
            continue
        age = now.timestamp() - candidate.source_updated_at
        if age > rules.max_age.total_seconds():
            return
        if age >= rules.min_idle.total_seconds():
            yield candidate


def chosen(
    folders: Iterable[Path], rules: Rules, but: Collection[str] = ()
) -> Iterator[SessionCandidate]:
    """Of the sessions that the user named, however old, those that may be read."""
    for folder in folders:
        candidate = _candidate(folder, rules)
        if candidate is not None and folder.name not in but:
            yield candidate


def _candidate(folder: Path, rules: Rules) -> SessionCandidate | None:
    """A session that is open nowhere and begun by whom the rules let count."""
    path = folder / ROLLOUT
    try:
        updated = path.stat().st_mtime
        started = None if is_held(folder) else _started(path)
    except OSError:
        return None
    sources = {"shell", "adopted"} if rules.adopted else {"shell"}
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
