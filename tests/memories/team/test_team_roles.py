"""What a role can do with SQL of its own: nothing to what others have shared, and not as them."""

from collections.abc import Callable, Iterator
from contextlib import suppress

import psycopg
import pytest

from fakes.postgres import ADMIN, Postgres, needed
from fakes.teams import Machine
from pinfold.memories.records import StateError
from pinfold.memories.team.pulling import read_lines
from pinfold.memories.team.server import TeamDatabase

pytestmark = [needed, pytest.mark.slow]


@pytest.fixture
def ada(machine: Callable[..., Machine]) -> Machine:
    """With a session that is shared."""
    made = machine("ada")
    made.worked("Please always run the tests with make test; the refund limit is 60.")
    made.through()
    return made


def rows(pg: Postgres, database: str) -> list[tuple[object, ...]]:
    names = ("lines", "quotes", "tombstones", "revisions", "revision_lines", "jobs", "hidden")
    return [
        row for name in names for row in pg.sql(f"SELECT * FROM pinfold.{name}", database=database)
    ]


ATTEMPTS = """
UPDATE pinfold.lines SET stale = 'wrong';
UPDATE pinfold.lines SET said = '- fact: no [x#1]';
UPDATE pinfold.lines SET owner = 'ben';
DELETE FROM pinfold.lines;
TRUNCATE pinfold.lines;
DELETE FROM pinfold.quotes;
UPDATE pinfold.quotes SET said = 'no';
UPDATE pinfold.quotes SET file_hash = 'no';
INSERT INTO pinfold.quotes (team, line, cite, said)
  SELECT team, id, 'x#1', 'no' FROM pinfold.lines;
INSERT INTO pinfold.lines (team, owner, host, session, folder, said)
  VALUES ('payments', 'ada', 'h', 's', '', '- fact: no [s#1]');
INSERT INTO pinfold.lines (team, host, session, folder, said)
  VALUES ('others', 'h', 's', '', '- fact: no [s#1]');
INSERT INTO pinfold.tombstones (team, line) SELECT team, id FROM pinfold.lines;
DELETE FROM pinfold.revisions;
UPDATE pinfold.revisions SET author = 'ben';
DELETE FROM pinfold.revision_lines;
INSERT INTO pinfold.revision_lines (team, number, file, place, line)
  SELECT team, 1, 'MEMORY.md', 999, id FROM pinfold.lines LIMIT 1;
INSERT INTO pinfold.revisions (team, number, parent, input) VALUES ('payments', 2, 1, '9');
INSERT INTO pinfold.hidden (team, line, role) SELECT team, id, 'ada' FROM pinfold.lines;
UPDATE pinfold.jobs SET done = NULL WHERE kind = 'publish';
UPDATE pinfold.jobs SET input = 'x', done = 'y' WHERE kind = 'consolidate';
UPDATE pinfold.jobs SET lease_until = clock_timestamp() + interval '9 years';
UPDATE pinfold.jobs SET holder = 'ada';
UPDATE pinfold.jobs SET status = 'failed', retry_at = clock_timestamp() + interval '7 days';
UPDATE pinfold.jobs SET attempts = 9, error = 'no';
DELETE FROM pinfold.jobs;
INSERT INTO pinfold.jobs (kind, key, team, input) VALUES ('consolidate', 'x', 'payments', '1');
ALTER TABLE pinfold.lines DISABLE ROW LEVEL SECURITY;
ALTER TABLE pinfold.lines NO FORCE ROW LEVEL SECURITY;
DROP POLICY see ON pinfold.lines;
CREATE FUNCTION pinfold.is_owner2() RETURNS int LANGUAGE sql AS 'SELECT 1';
SET ROLE ada;
SET SESSION AUTHORIZATION ada;
SET row_security = off; DELETE FROM pinfold.lines;
SET pinfold.withdraw = 'on'; DELETE FROM pinfold.lines;
SELECT nextval('pinfold.changes');
DROP SCHEMA pinfold CASCADE
"""


@pytest.fixture
def outsider(pg: Postgres, database: str) -> Iterator[str]:
    pg.sql("CREATE ROLE eve LOGIN")
    yield "eve"
    pg.sql("DROP ROLE eve")


@pytest.mark.parametrize("role", ["ben", "eve"])
def test_raw_sql_changes_nothing(
    pg: Postgres, database: str, ada: Machine, outsider: str, role: str
) -> None:
    was = rows(pg, database)
    assert was
    for attempt in ATTEMPTS.split(";\n"):
        with suppress(psycopg.Error):
            pg.sql(attempt, role=role, database=database)
        assert rows(pg, database) == was, attempt
    seen = pg.sql("SELECT owner FROM pinfold.lines", role=role, database=database)
    assert {owner for (owner,) in seen} == ({"ada"} if role == "ben" else set())


def test_a_live_lease_is_nobody_elses_and_a_revision_needs_one(
    pg: Postgres, database: str, ada: Machine
) -> None:
    ada.worked("Deploys go through the staging queue first.")
    ada.sync.queue()
    ada.sync.publish()
    (claim,) = ada.sync.claims.claim("consolidate", ["payments"], 1)
    taken = "UPDATE pinfold.jobs SET holder = 'ben' WHERE kind = 'consolidate' RETURNING 1"
    assert pg.sql(taken, role="ben", database=database) == []
    late = "INSERT INTO pinfold.revisions (team, number, parent, input)"
    with pytest.raises(psycopg.Error, match="no lease"):
        pg.sql(f"{late} VALUES ('payments', 2, 1, '9')", role="ben", database=database)
    assert ada.sync.consolidate_one(claim)


def test_a_late_revision_is_refused(pg: Postgres, database: str, ada: Machine) -> None:
    """Only a revision whose parent is the newest goes in."""
    ada.worked("Deploys go through the staging queue first.")
    ada.sync.queue()
    ada.sync.publish()
    (claim,) = ada.sync.claims.claim("consolidate", ["payments"], 1)
    with pytest.raises(StateError, match="parent is not the newest"):
        ada.sync.revise(claim, 0, [])
    assert pg.sql("SELECT max(number) FROM pinfold.revisions", database=database) == [(1,)]
    assert ada.sync.consolidate_one(claim)
    assert pg.sql("SELECT max(number) FROM pinfold.revisions", database=database) == [(2,)]


def test_the_teams_owner_forgets_any_line_and_nothing_brings_it_back(
    pg: Postgres, database: str, ada: Machine
) -> None:
    (line,) = [line for line in ada.copy.read().lines if "refund" in line.text]
    owner = TeamDatabase(pg.url(ADMIN, database), {})
    with owner.transaction() as conn:
        conn.exec_driver_sql("DELETE FROM pinfold.lines WHERE said LIKE '%%refund%%'")
    owner.close()
    assert not any(
        "refund" in str(row) or line.id in row[1:]
        for row in rows(pg, database)
        if row[1] != line.id
    )
    ada.through()
    assert not any("refund" in text for text in ada.lines)
    # The machine that shared it would share it again, were there no tombstone.
    pg.sql("UPDATE pinfold.jobs SET done = NULL", database=database)
    ada.through()
    assert not any("refund" in str(row) for row in rows(pg, database))


@pytest.mark.parametrize(
    ("grant", "what"),
    [
        ("SUPERUSER", "is a superuser"),
        ("BYPASSRLS", "is free of row-level security"),
        ("LOGIN; GRANT root2 TO boss", "may become root2, which is a superuser"),
    ],
)
def test_a_role_that_nothing_holds_back_is_refused(
    pg: Postgres, database: str, grant: str, what: str
) -> None:
    pg.sql("CREATE ROLE root2 SUPERUSER")
    pg.sql("CREATE ROLE boss LOGIN")
    try:
        for statement in (f"ALTER ROLE boss {grant}").split("; "):
            pg.sql(statement)
        server = TeamDatabase(pg.url("boss", database), {})
        with pytest.raises(StateError, match=what), server.transaction():
            pass
    finally:
        pg.sql("DROP ROLE boss")
        pg.sql("DROP ROLE root2")


def test_who_may_not_set_the_database_up_is_told_who_may(pg: Postgres) -> None:
    pg.team_database("bare")
    server = TeamDatabase(pg.url("ada", "bare"), {})
    with pytest.raises(StateError, match="its owner, admin, does that"), server.transaction():
        pass


def test_what_is_larger_than_any_shared_line_is_not_fetched(
    pg: Postgres, database: str, ada: Machine
) -> None:
    """A member may write anything: it must not fill the others' memory."""
    insert = "INSERT INTO pinfold.lines (team, host, session, folder, said)"
    line = f"{insert} VALUES ('payments', 'h', 's', '', %s || repeat('x', %s)) RETURNING id"
    ids = [
        pg.sql(line.replace("%s", "'- fact: no [s#1] '", 1) % size, role="ben", database=database)
        for size in (1, 1_000_000)
    ]
    server = TeamDatabase(pg.url("ada", database), {})
    with server.transaction() as conn:
        found = {shared.id for shared in read_lines(conn, "payments")}
    server.close()
    assert [one[0][0] in found for one in ids] == [True, False]
