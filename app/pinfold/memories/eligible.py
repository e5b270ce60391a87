"""Which sessions a memory may be made of."""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct

from pinfold.memories.records import Candidate
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
) -> Iterator[Candidate]:
    """The sessions that are old enough, not too old, and open nowhere, last used first; not `but`.

    Whether one has changed since it was read last, the state knows.
    """
    sources = {"shell", "adopted"} if rules.adopted else {"shell"}
    for folder in store.folders()[:SCANNED]:
        path = folder / ROLLOUT
        try:
            updated = path.stat().st_mtime
            age = now.timestamp() - updated
            if age > rules.max_age.total_seconds():
                return
            if age < rules.min_idle.total_seconds() or folder.name in but or is_held(folder):
                continue
            started = _started(path)
        except OSError:
            continue
        if started is not None and started.begun_by in sources:
            yield Candidate(folder.name, str(path), started.cwd, updated)


def _started(path: Path) -> SessionStarted | None:
    with path.open("rb") as file:
        line = file.readline(_HEAD).rstrip(b"\n")
    try:
        data = codec.decode(line).data
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, SessionStarted) else None
