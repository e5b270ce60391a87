"""The state of memories: claims, leases, records, and what forgetting leaves."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from pinfold.memories.consolidate import HEARTBEAT
from pinfold.memories.leases import LEASE, RETRY
from pinfold.memories.records import Extracted, SessionCandidate, StateError
from pinfold.memories.state import MemoriesState
from pinfold.paths import shown


class Clock:
    def __init__(self) -> None:
        self.at = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def forward(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(tmp_path: Path, clock: Clock) -> Iterator[MemoriesState]:
    opened = MemoriesState(tmp_path / "home", clock)
    yield opened
    opened.close()


def candidate(session: str, updated: float = 100.0) -> SessionCandidate:
    return SessionCandidate(session, f"/sessions/{session}/rollout.jsonl", "/w", updated)


def remember(state: MemoriesState, *sessions: str, updated: float = 100.0) -> None:
    for session in sessions:
        (claim,) = state.claim_sessions([candidate(session, updated)], 1)
        made = Extracted(f"memory of {session}", f"summary of {session}", session)
        assert state.finish_extracted(claim, candidate(session, updated), made)


def test_a_session_is_claimed_once_and_again_only_when_it_has_changed(state: MemoriesState) -> None:
    claims = state.claim_sessions([candidate("a"), candidate("b"), candidate("c")], 2)
    assert [claim.key for claim in claims] == ["a", "b"]
    assert state.claim_sessions([candidate("a"), candidate("b")], 2) == []
    assert state.finish_extracted(claims[0], candidate("a"), Extracted("raw", "summary"))
    assert state.finish_extracted(claims[1], candidate("b"), None)
    assert [job.status for job in state.jobs()] == ["succeeded", "succeeded_no_output"]
    assert state.claim_sessions([candidate("a"), candidate("b")], 2) == []
    changed = state.claim_sessions([candidate("a", 101.0), candidate("b")], 2)
    assert [claim.key for claim in changed] == ["a"]


def test_whoever_lost_the_lease_finishes_nothing(state: MemoriesState, clock: Clock) -> None:
    (late,) = state.claim_sessions([candidate("a")], 1)
    clock.forward(LEASE)
    (ours,) = state.claim_sessions([candidate("a")], 1)
    made = Extracted("late", "late")
    assert not state.finish_extracted(late, candidate("a"), made)
    assert not state.fail(late, "late")
    assert not state.release(late)
    assert not state.heartbeat(late)
    assert not state.owns(late)
    assert state.outputs() == []
    assert state.finish_extracted(ours, candidate("a"), Extracted("ours", "ours"))
    assert [output.raw_memory for output in state.outputs()] == ["ours"]


def test_a_heartbeat_holds_the_one_consolidation(state: MemoriesState, clock: Clock) -> None:
    remember(state, "a", updated=7.0)
    claim = state.claim_consolidation()
    assert claim is not None
    assert claim.input_watermark == 7.0
    for _ in range(50):
        clock.forward(HEARTBEAT)
        assert state.heartbeat(claim)
        assert state.claim_consolidation(force=True) is None
    clock.forward(LEASE)
    assert state.claim_consolidation() is not None


def test_a_failure_waits_longer_each_time(state: MemoriesState, clock: Clock) -> None:
    for attempt in range(3):
        (claim,) = state.claim_sessions([candidate("a")], 1)
        assert state.fail(claim, "the model is overloaded")
        clock.forward(RETRY * 2**attempt - 1)
        assert state.claim_sessions([candidate("a")], 1) == []
        clock.forward(1)
    (claim,) = state.claim_sessions([candidate("a")], 1)
    state.fail(claim, "again")
    assert state.claim_sessions([candidate("a")], 1, force=True)


def test_what_is_released_counts_as_never_claimed(state: MemoriesState) -> None:
    (claim,) = state.claim_sessions([candidate("a")], 1)
    assert state.release(claim)
    (job,) = state.jobs()
    assert (job.status, job.attempts) == ("released", 0)
    assert state.claim_sessions([candidate("a")], 1)


def test_a_new_record_of_a_session_keeps_its_use_and_its_selection(state: MemoriesState) -> None:
    remember(state, "a", "b")
    state.count_use(["a", "unknown"])
    claim = state.claim_consolidation()
    assert claim
    assert state.finish_consolidation(claim, state.selection(10, 30), 100.0)
    remember(state, "a", updated=200.0)
    row = state.outputs()[0]
    assert (row.source_updated_at, row.usage_count) == (200.0, 1)
    assert (row.selected_for_phase2, row.selected_for_phase2_source_updated_at) == (True, 100.0)


def test_only_the_exact_records_that_were_read_are_selected(state: MemoriesState) -> None:
    remember(state, "a", "b", "c")
    claim = state.claim_consolidation()
    assert claim
    read = [output for output in state.selection(10, 30) if output.session_id != "c"]
    remember(state, "b", updated=200.0)
    assert state.finish_consolidation(claim, read, 100.0)
    selected = {output.session_id: output.selected_for_phase2 for output in state.outputs()}
    assert selected == {"a": True, "b": False, "c": False}


def test_watermarks_never_go_back(state: MemoriesState) -> None:
    remember(state, "a", updated=300.0)
    claim = state.claim_consolidation()
    assert claim
    state.finish_consolidation(claim, [], 200.0)
    state.forget("a")
    claim = state.claim_consolidation()
    assert claim
    assert claim.input_watermark == 300.0
    assert [job.completed_watermark for job in state.jobs()] == [300.0]


def test_a_forgotten_session_is_never_read_again(state: MemoriesState) -> None:
    remember(state, "a")
    (running,) = state.claim_sessions([candidate("b")], 1)
    state.forget("a")
    state.forget("b")
    state.forget("b")
    assert not state.finish_extracted(running, candidate("b"), Extracted("raw", "summary"))
    assert state.outputs() == []
    changed = [candidate("a", 1e9), candidate("b", 1e9)]
    assert state.claim_sessions(changed, 2, force=True) == []
    state.clear()
    assert state.claim_sessions(changed, 2, force=True) == []
    assert state.forgotten() == ["a", "b"]


@pytest.mark.parametrize("how", ["forget", "clear"])
def test_what_is_forgotten_leaves_the_disk(state: MemoriesState, how: str) -> None:
    remember(state, "a", "b")
    files = state.path, state.path.with_name("memories.db-wal")
    assert any(b"memory of a" in file.read_bytes() for file in files)
    state.forget("a") if how == "forget" else state.clear()
    assert not any(b"memory of a" in file.read_bytes() for file in files)


def test_what_nobody_used_is_pruned_oldest_first_and_not_made_again(
    state: MemoriesState, clock: Clock
) -> None:
    remember(state, "a", "b", "c")
    clock.forward(20 * 86_400)
    state.count_use(["b"])
    clock.forward(11 * 86_400)
    assert state.prune(30, limit=1) == 1
    assert state.prune(30) == 1
    assert [output.session_id for output in state.outputs()] == ["b"]
    assert state.claim_sessions([candidate("a")], 1) == []


def test_counts_are_replaced_by_those_that_were_rebuilt(state: MemoriesState) -> None:
    remember(state, "a", "b")
    state.count_use(["a"])
    state.set_usage({"b": (3, 5.0)})
    assert [(row.usage_count, row.last_usage) for row in state.outputs()] == [(0, None), (3, 5.0)]


def test_the_database_is_for_its_user_alone(state: MemoriesState) -> None:
    remember(state, "a")
    files = list(state.path.parent.glob("memories.db*"))
    assert files
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert state.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_database_of_version_1_gets_the_missing_table(tmp_path: Path, clock: Clock) -> None:
    opened = MemoriesState(tmp_path, clock)
    remember(opened, "a")
    opened.close()
    engine = create_engine(f"sqlite:///{tmp_path / 'memories.db'}")
    with engine.begin() as conn:
        conn.execute(text("UPDATE schema_version SET version = 1"))
        conn.execute(text("DROP TABLE confirmed"))
    engine.dispose()
    opened = MemoriesState(tmp_path, clock)
    opened.confirm("a line")
    assert opened.confirmed() == ["a line"]
    assert [row.session_id for row in opened.outputs()] == ["a"]
    opened.close()
    with engine.begin() as conn:
        assert conn.execute(text("SELECT version FROM schema_version")).all() == [(2,)]
    engine.dispose()


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path, clock: Clock) -> None:
    MemoriesState(tmp_path, clock).close()
    engine = create_engine(f"sqlite:///{tmp_path / 'memories.db'}")
    with engine.begin() as conn:
        conn.execute(text("UPDATE schema_version SET version = 99"))
    engine.dispose()
    with pytest.raises(StateError, match=r"newer version of pinfold; update pinfold\.$"):
        MemoriesState(tmp_path, clock)


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"no database at all " * 99, "can't be used: it is damaged"), (None, "can't be opened: Is")],
)
def test_a_database_that_cannot_be_used_is_told_in_a_sentence(
    tmp_path: Path, clock: Clock, content: bytes | None, says: str
) -> None:
    path = tmp_path / "memories.db"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(StateError) as caught:
        MemoriesState(tmp_path, clock)
    assert says in str(caught.value)
    assert shown(path) in str(caught.value)
    assert "\n" not in str(caught.value)


CLAIMER = """
import sys
from datetime import datetime, UTC
from pathlib import Path
from pinfold.memories.records import SessionCandidate, Extracted
from pinfold.memories.state import MemoriesState

state = MemoriesState(Path(sys.argv[1]), lambda: datetime.now(UTC))
sys.stdin.readline()
for n in range(60):
    candidates = [SessionCandidate(f"s{n}", "/r", "/w", 1.0) for n in range(60)]
    for claim in state.claim_sessions(candidates, 1):
        print(claim.key)
        assert state.finish_extracted(claim, candidates[0], Extracted("raw", "summary"))
    if job := state.claim_consolidation():
        assert state.release(job)
"""


@pytest.mark.slow
def test_two_processes_never_have_the_same_job(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CLAIMER, str(tmp_path)]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for child in children:
        assert child.stdin
        child.stdin.write("go\n")
        child.stdin.flush()
    done = [child.communicate()[0].split() for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert sorted(done[0] + done[1]) == sorted(f"s{n}" for n in range(60))
