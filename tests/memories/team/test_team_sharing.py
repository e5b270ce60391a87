"""What goes on between machines: lines that became stale, echoes, the owner's word, little time."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from fakes.digests import asked, called, replied
from fakes.postgres import ADMIN, Postgres, needed
from fakes.teams import TEAM, Machine
from pinfold.memories.places import SUMMARY
from pinfold.memories.records import Extracted, SessionCandidate, StateError
from pinfold.memories.team import pulling
from pinfold.memories.team.copy import TeamCopy
from pinfold.memories.team.sharing import Team
from pinfold.memories.team.teams import Teams
from pinfold.rollout.events import MemoryUsed
from pinfold.rollout.journal import Journal
from pinfold.rollout.memory import MemoryCited

pytestmark = [needed, pytest.mark.slow]

LIMIT = "The upload limit is 60 megabytes."


def words(text: str) -> int:
    return len(text.split())


def record(machine: Machine, session: str, raw: str) -> None:
    """Replace what is remembered of a session."""
    row = machine.state.output(session)
    assert row is not None
    found = SessionCandidate(session, row.rollout_path, row.cwd, row.source_updated_at + 1)
    (claim,) = machine.state.claim_sessions([found], 1)
    assert machine.state.finish_extracted(claim, found, Extracted(raw, "s", "slug"))


def test_the_owners_machine_marks_what_became_stale(machine: Callable[..., Machine]) -> None:
    ada, ben = machine("ada"), machine("ben")
    file = ada.repository / "limits.py"
    session = ada.worked(LIMIT)
    record(ada, session, f'- fact: {LIMIT} [{session}#1] "LIMIT = 60" in "limits.py"\n')
    ada.through()
    ben.through()
    (line,) = ben.copy.read().lines
    (quote,) = line.quotes
    assert (line.stale, quote.file, len(quote.file_hash)) == ("", "limits.py", 64)
    assert LIMIT in (ben.copy.files / SUMMARY).read_text()

    file.write_text("# changed\nLIMIT = 60\n")  # it still says so
    ada.through()
    ben.through()
    (line,) = ben.copy.read().lines
    assert line.stale == ""
    assert line.quotes[0].file_hash != quote.file_hash

    file.write_text("LIMIT = 90\n")
    ada.through()
    ben.through()
    (line,) = ben.copy.read().lines
    assert line.stale == "limits.py no longer contains it"
    assert LIMIT not in (ben.copy.files / SUMMARY).read_text()
    file.write_text("LIMIT = 60\n")
    ada.through()
    ben.through()
    assert ben.copy.read().lines[0].stale == ""


def test_an_echo_of_anothers_line_is_not_shared_again(machine: Callable[..., Machine]) -> None:
    ada = machine("ada")
    session = ada.session(
        asked("What is the limit of refunds, and where is it set in this repository?"),
        called("command", "12 passed", command="make test", exit_code=0),
        replied(
            "Ben says that the refund limit is 60 and that it is set in limits.py of the core."
        ),
    )
    (folder,) = ada.home.glob(f"sessions/*/*/*/{session}")
    with Journal.open(folder, lambda: ada.clock) as journal:
        cited = MemoryCited(f"team/{TEAM}/{SUMMARY}", 5, 5)
        journal.append(MemoryUsed(item=4, via="citation", cited=(cited,)))
    row = ada.state.output(session)
    assert row is not None
    assert "Ben says" in row.raw_memory
    ada.through()
    assert ada.lines
    assert not any("Ben says" in text for text in ada.lines)


def test_a_withdrawn_line_may_come_back_and_a_forgotten_one_not(
    pg: Postgres, database: str, machine: Callable[..., Machine]
) -> None:
    ada = machine("ada")
    session = ada.worked(LIMIT)
    line = f"- said: {LIMIT} [{session}#1]\n"
    for raw, there in ((line, True), ("", False), (line, True)):
        record(ada, session, raw or f"- command: `make test` [{session}#2]\n")
        pg.sql("UPDATE pinfold.jobs SET done = NULL", database=database)
        ada.through()
        assert (LIMIT in ada.lines) == there
    assert ada.copy.read().tombstones == frozenset()


def test_a_session_that_cant_be_read_is_tried_again_and_stops_nothing(
    pg: Postgres, database: str, machine: Callable[..., Machine]
) -> None:
    ada = machine("ada")
    broken = ada.worked(LIMIT)
    (rollout,) = ada.home.glob(f"sessions/*/*/*/{broken}/rollout.jsonl")
    whole = rollout.read_bytes()
    rollout.write_bytes(b"not a rollout\n")
    ada.worked("Deploys go through the staging queue first.", command="make deploy")
    ada.sync.run(lambda: 0.0, 30.0, force=True)
    assert any("staging queue" in text for text in ada.lines)
    assert LIMIT not in ada.lines
    rollout.write_bytes(whole)
    ada.sync.run(lambda: 0.0, 30.0)
    assert LIMIT not in ada.lines  # it waits for its time
    ada.sync.run(lambda: 0.0, 30.0, force=True)
    assert LIMIT in ada.lines
    assert str(ada.home) not in str(pg.sql("SELECT * FROM pinfold.jobs", database=database))


def test_who_is_not_in_the_team_is_told_so(pg: Postgres, machine: Callable[..., Machine]) -> None:
    pg.sql("CREATE ROLE zoe LOGIN")
    zoe = machine("zoe")
    zoe.worked(LIMIT)
    with pytest.raises(StateError, match="The role zoe is not a member of payments: GRANT"):
        zoe.through()


def test_the_teams_owner_forgets_anothers_line(
    pg: Postgres, database: str, machine: Callable[..., Machine], tmp_path: Path
) -> None:
    ada = machine("ada")
    ada.worked(LIMIT)
    ada.through()
    (line,) = [line for line in ada.copy.read().lines if LIMIT in line.text]
    for role, owns in (("ben", False), (ADMIN, True)):
        home = tmp_path / f"{role}-home"
        teams = Teams(home, (Team(TEAM, tmp_path, tmp_path),), pg.url(role, database))
        teams.pull(lambda: 0.0)
        assert teams.owns(TEAM) is owns
        said = teams.forget_line(TEAM, line.id)
        assert said.startswith("Forgotten for everybody" if owns else "Forgotten for you")
        left = pg.sql(
            "SELECT count(*) FROM pinfold.lines WHERE said LIKE '%upload%'", database=database
        )
        assert left == [(0 if owns else 1,)]
        teams.pull(lambda: 0.0)
        assert LIMIT not in (teams.copies[0].files / SUMMARY).read_text()
    # Ada's machine applies it before it tells a session anything, whatever it pulled.
    copy = TeamCopy(ada.home, ada.team)
    assert LIMIT in (copy.files / SUMMARY).read_text()
    theirs = Teams(ada.home, (ada.team,), pg.url("ada", database))
    theirs.front(ada.repository, 1_000, words)
    assert LIMIT not in (copy.files / SUMMARY).read_text()


def test_a_pull_that_takes_too_long_leaves_the_copy(machine: Callable[..., Machine]) -> None:
    ada, ben = machine("ada"), machine("ben")
    ada.worked(LIMIT)
    ada.through()
    slow = count(step=3.0)
    with pytest.raises(StateError, match="too slow"):
        pulling.pull(ben.server, ben.copy, lambda: 0.0, 2.0, lambda: next(slow))
    assert ben.lines == {}


def test_two_that_set_the_database_up_at_once(pg: Postgres) -> None:
    """The advisory lock lets one do it; the other finds it done."""
    from concurrent.futures import ThreadPoolExecutor

    from pinfold.memories.team.server import TeamDatabase

    pg.team_database("twice")

    def set_up(_: int) -> int:
        server = TeamDatabase(pg.url(ADMIN, "twice"), {})
        with server.transaction() as conn:
            found = conn.exec_driver_sql("SELECT version FROM pinfold.schema_version").scalar_one()
        server.close()
        return int(found)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(set_up, range(4))) == [1, 1, 1, 1]
