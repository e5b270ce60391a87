"""Which sessions a memory may be made of."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from fakes.sessions import item, ticking
from pinfold.memories.eligible import eligible
from pinfold.rollout.events import Event, SessionStarted
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore
from pinfold.rollout.values import AdoptedFrom
from pinfold.settings import MemorySettings

NOW = datetime(2026, 3, 1, tzinfo=UTC)
RULES = MemorySettings(max_rollout_age_days=30, min_rollout_idle_hours=6)


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path)


def session(store: SessionStore, hours: float, source: str = "shell") -> str:
    """One that was used last so many hours ago."""
    with store.create(Path("/w"), "0", ticking(), source) as journal:
        journal.append(item(1, content="hello"))
    return aged(journal.folder, hours)


def aged(folder: Path, hours: float) -> str:
    at = (NOW - timedelta(hours=hours)).timestamp()
    os.utime(folder / "rollout.jsonl", (at, at))
    return folder.name


def adopted(store: SessionStore, hours: float) -> str:
    started = SessionStarted(
        schema=1, id="x", cwd="/x", version="0", adopted=AdoptedFrom(tool="codex", file="/f")
    )
    with store.adopt([Event(1, NOW, started)], Path("/w"), "0", ticking()) as journal:
        return aged(journal.folder, hours)


def found(
    store: SessionStore, rules: MemorySettings = RULES, but: tuple[str, ...] = ()
) -> list[str]:
    return [candidate.session for candidate in eligible(store, rules, NOW, but)]


def test_only_sessions_of_the_shell_that_rest_and_are_not_too_old(store: SessionStore) -> None:
    session(store, 5)
    week, hours = session(store, 24 * 7), session(store, 7)
    session(store, 24 * 31)
    for source in "exec", "replay", "internal", "some later one":
        session(store, 8, source)
    assert found(store) == [hours, week]
    assert found(store, but=(hours,)) == [week]


def test_adopted_sessions_count_where_they_are_allowed(store: SessionStore) -> None:
    theirs = adopted(store, 8)
    assert found(store) == []
    assert found(store, replace(RULES, include_adopted=True)) == [theirs]


def test_what_is_open_somewhere_is_left_alone(store: SessionStore) -> None:
    name = session(store, 8, source="")  # of an older version: it began in the shell
    with Journal.open(store.find(name), ticking()):
        assert found(store) == []
    assert found(store) == [name]


def test_damaged_sessions_are_passed_over(store: SessionStore) -> None:
    for first in b"no line", b'{"seq": 1}\n', b"\xff" * 100_000:
        name = session(store, 8)
        (store.find(name) / "rollout.jsonl").write_bytes(first)
        aged(store.find(name), 8)
    assert found(store) == []
