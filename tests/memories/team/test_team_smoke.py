"""A team's memory with a real PostgreSQL: what is shared arrives, what is forgotten leaves."""

from collections.abc import Callable

from fakes.postgres import Postgres, needed
from fakes.teams import Machine

pytestmark = needed

RULE = "Please always run the tests with make test before you commit; the refund limit is 60."
DEPLOY = "Deploys go through the staging queue first, never straight to production."


def test_two_machines_share_and_forget(
    pg: Postgres, database: str, machine: Callable[..., Machine]
) -> None:
    ada, ben = machine("ada"), machine("ben")
    first = ada.worked(RULE)
    ada.worked("The payroll of the private project is due on Friday.", cwd=ada.private)
    ben.worked(DEPLOY, command="make deploy")
    assert ada.through() == "4 lines shared; 4 lines of the team are here."
    assert ben.through() == "4 lines shared; 8 lines of the team are here."
    assert ada.through() == "Nothing new to share; 8 lines of the team are here."
    assert (ada.lines[RULE], ada.lines[DEPLOY]) == ("ada", "ben")
    memory = (ada.copy.files / "MEMORY.md").read_text()
    assert memory.startswith(f"# Memory\n\n## {ada.repository}\n\n")
    assert f"- said: ben: {DEPLOY} [" in memory
    assert not any("payroll" in str(row) for row in everything(pg, database))

    ada.state.forget(first)
    ada.through()
    assert set(ada.lines.values()) == {"ben"}
    assert not any(first in str(row) for row in everything(pg, database))
    assert RULE in (ben.copy.files / "MEMORY.md").read_text()  # it is offline until it pulls
    ben.through()
    assert RULE not in (ben.copy.files / "MEMORY.md").read_text()
    assert len(ben.copy.read().tombstones) == 4


def everything(pg: Postgres, database: str) -> list[tuple[object, ...]]:
    """Every row of every table."""
    tables = pg.sql(
        "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = 'pinfold'",
        database=database,
    )
    return [
        row for (table,) in tables for row in pg.sql(f"SELECT * FROM {table}", database=database)
    ]
