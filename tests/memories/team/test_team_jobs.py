"""Jobs of a team: none is done twice and none is lost, whoever dies or is cut off in between."""

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import event

from fakes.cut_connections import cutting
from fakes.postgres import Postgres, needed
from fakes.teams import NOW, TEAM, Machine
from pinfold.memories.statements import statements
from pinfold.memories.team.claims import Claims, finish
from pinfold.memories.team.server import TeamDatabase

pytestmark = [needed, pytest.mark.slow]

AUDIT = """
CREATE TABLE done (kind text, key text, input text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF NEW.done IS DISTINCT FROM OLD.done THEN
    INSERT INTO public.done VALUES (NEW.kind, NEW.key, NEW.done);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER note AFTER UPDATE ON pinfold.jobs FOR EACH ROW EXECUTE FUNCTION note();
"""
"""Notes each time that a job was finished."""


def finished(pg: Postgres, database: str) -> list[tuple[object, ...]]:
    return pg.sql("SELECT kind, key, input FROM done", database=database)


def expire(pg: Postgres, database: str) -> None:
    pg.sql("UPDATE pinfold.jobs SET lease_until = clock_timestamp()", database=database)


def queued(machine: Machine, *sessions: str) -> None:
    machine.sync.claims.queue(TEAM, dict.fromkeys(sessions, "1"))


def test_a_claim_is_one_machines_by_the_databases_clock(
    pg: Postgres, database: str, machine: Callable[..., Machine]
) -> None:
    """Ben's clock is an hour ahead: a lease is Ada's until the database says so."""
    ada, ben = machine("ada", lease=5.0), machine("ben", clock=NOW + timedelta(hours=1))
    ada.worked("Please always run the tests with make test; the refund limit is 60.")
    ada.sync.queue()
    ada.sync.publish()
    (claim,) = ada.sync.claims.claim("consolidate", [TEAM], 5)
    assert ben.sync.claims.claim("consolidate", [TEAM], 5) == []
    assert ada.sync.claims.heartbeat(claim)
    assert ben.sync.claims.claim("consolidate", [TEAM], 5, force=True) == []
    expire(pg, database)
    (taken,) = ben.sync.claims.claim("consolidate", [TEAM], 5)
    assert not ada.sync.claims.heartbeat(claim)
    assert not ada.sync.claims.fail(claim, "late")
    assert not ada.sync.consolidate_one(claim)
    assert ben.sync.consolidate_one(taken)
    assert ada.sync.claims.claim("consolidate", [TEAM], 5) == []


def test_a_real_lease_ends(machine: Callable[..., Machine]) -> None:
    ada, other = machine("ada", lease=0.3), machine("ada", "second", lease=0.3)
    queued(ada, "a")
    (first,) = ada.sync.claims.claim("publish", [TEAM], 5)
    theirs = Claims(other.server, ada.sync._host, 0.3)
    while not (again := theirs.claim("publish", [TEAM], 5)):
        pass
    assert (again[0].key, again[0].token == first.token) == ("a", False)


def test_a_failed_job_waits_and_then_comes_back(
    pg: Postgres, database: str, machine: Callable[..., Machine]
) -> None:
    ada = machine("ada")
    queued(ada, "a")
    for attempt in (1, 2):
        (claim,) = ada.sync.claims.claim("publish", [TEAM], 5, force=True)
        assert ada.sync.claims.fail(claim, "broken")
        hours = "round(extract(epoch FROM retry_at - clock_timestamp()) / 3600)"
        assert pg.sql(f"SELECT {hours} FROM pinfold.jobs", database=database) == [(attempt,)]
        assert ada.sync.claims.claim("publish", [TEAM], 5) == []
    assert ada.sync.claims.claim("publish", [TEAM], 5, force=True)


def test_the_connection_is_cut_at_each_answer_of_a_claim(
    pg: Postgres, database: str, machine: Callable[..., Machine]
) -> None:
    """Whether the claim was made before the cut or not: the client has it once, and goes on."""
    pg.sql(AUDIT, database=database)
    ada = machine("ada")
    was_cut, at = True, 0
    while was_cut:
        at += 1
        sessions = [f"s{at}-{n}" for n in range(3)]
        queued(ada, *sessions)
        with cutting(pg.port, at) as cutter:
            server = TeamDatabase(
                f"postgresql+psycopg://ada@127.0.0.1:{cutter.port}/{database}", {}
            )
            server._checked = True  # its own connection would be the one that is cut
            claims = Claims(server, ada.sync._host).claim("publish", [TEAM], 5)
            was_cut = cutter.cut
            assert sorted(claim.key for claim in claims) == sessions, f"cut at answer {at}"
            with server.transaction() as conn:
                assert all(finish(conn, claim) for claim in claims)
            server.close()
    assert at > 10
    done = finished(pg, database)
    assert len(done) == len(set(done)) == 3 * at


def test_killed_between_any_two_steps(
    pg: Postgres, database: str, machine: Callable[..., Machine], tmp_path: Path
) -> None:
    """A process is killed before its n-th statement, for each n; others go on once its leases end.

    In the end every line is there once, every job was finished once, and each revision has the one
    before it as its parent.
    """
    pg.sql(AUDIT, database=database)
    ada, ben = machine("ada"), machine("ben", clock=NOW + timedelta(hours=1))
    ben.worked("Decision: deploy with make deploy.", command="make deploy")
    step, died = 0, True
    while died:
        step += 1
        ada.worked(
            f"Rule number {step}: please run the tests with make test{step}.",
            command=f"make test{step}",
        )
        died = _killed(ada, step)
        expire(pg, database)
        ben.through()
        ada.through()
    assert step > 30
    # Whatever was cut off is repeated once: nothing is due any more.
    due = (
        "SELECT kind, key FROM pinfold.jobs WHERE input IS DISTINCT FROM done OR status = 'running'"
    )
    assert pg.sql(due, database=database) == []
    done = finished(pg, database)
    assert len(done) == len(set(done))
    every = [row for one in (ada, ben) for row in one.state.outputs()]
    assert {key for kind, key, _ in done if kind == "publish"} == {row.session_id for row in every}
    expected = sum(len(statements(row.raw_memory)) for row in every)
    counts = "SELECT count(*), count(DISTINCT (owner, session, said)) FROM pinfold.lines"
    assert pg.sql(counts, database=database) == [(expected, expected)]
    shared = "SELECT id FROM pinfold.lines WHERE owner = 'ada'"
    assert set(ada.copy.shared().values()) == {key for (key,) in pg.sql(shared, database=database)}
    chain = "SELECT number - parent FROM pinfold.revisions"
    assert {gap for (gap,) in pg.sql(chain, database=database)} == {1}
    ben.through()
    assert len(ada.lines) == len(ben.lines) == len(set(ada.lines))


def _killed(machine: Machine, step: int) -> bool:
    """Share from another process, which is killed before its statement of that number; whether it
    was, or was done before."""
    machine.state.close()
    child = os.fork()
    if child == 0:
        steps = 0

        def kill(*_: object) -> None:
            nonlocal steps
            steps += 1
            if steps == step:
                os._exit(9)

        engine = machine.server._engine
        event.listen(engine, "before_cursor_execute", kill)
        event.listen(engine, "commit", kill)
        try:
            machine.through()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
