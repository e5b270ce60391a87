"""An adoption written as a session of pinfold's own."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from fakes.foreign import START, codex_session
from pinfold.adopt.codex import read_lines
from pinfold.rollout.events import TurnStarted
from pinfold.rollout.journal import JournalError
from pinfold.rollout.store import SessionStore
from pinfold.rollout.values import AdoptedFrom

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def now() -> datetime:
    return NOW


def test_an_adopted_session_keeps_its_times_and_goes_on(tmp_path: Path) -> None:
    adoption = read_lines(codex_session().encoded(), Path("rollout.jsonl"))
    store = SessionStore(tmp_path)
    with store.adopt(adoption.events, tmp_path, "1.0", now) as journal:
        assert journal.started.id == journal.folder.name
        assert journal.started.adopted == AdoptedFrom(
            "codex", "rollout.jsonl", "019-a", through=len(adoption.events)
        )
        assert (journal.started.cwd, journal.started.version) == (str(tmp_path), "1.0")
        written = list(journal.read())
        told = [(adopted.seq, adopted.ts, adopted.data) for adopted in adoption.events]
        assert [(line.seq, line.ts, line.data) for line in written[1:]] == told[1:]
        assert written[0].ts == START
        (event,) = journal.append(TurnStarted(turn=4))
        assert (event.seq, event.ts) == (len(adoption.events) + 1, NOW)
    (summary,) = store.list()
    assert (summary.title, summary.turns, summary.note) == ("Fix the test.", 4, "")
    assert store.find(summary.id) == journal.folder


def test_it_works_where_it_is_told_to(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    made = codex_session()
    made.lines[0]["payload"]["cwd"] = str(there)
    adoption = read_lines(made.encoded(), Path("rollout.jsonl"))
    with SessionStore(tmp_path).adopt(adoption.events, tmp_path, "1.0", now) as journal:
        assert journal.started.cwd == str(tmp_path)


def test_a_store_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "sessions").touch()
    adoption = read_lines(codex_session().encoded(), Path("rollout.jsonl"))
    with pytest.raises(JournalError, match="could not be written"):
        SessionStore(tmp_path).adopt(adoption.events, tmp_path, "1.0", now)
