"""One PostgreSQL for a module's tests, and a database for each test."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from fakes.postgres import ADMIN, Postgres, postgres
from fakes.teams import Machine
from pinfold.memories.team.server import TeamDatabase

_numbers = count(1)


@pytest.fixture(scope="module")
def pg() -> Iterator[Postgres]:
    with postgres() as running:
        yield running


@pytest.fixture
def database(pg: Postgres) -> str:
    """A team's database that its owner has set up."""
    name = f"team{next(_numbers)}"
    pg.team_database(name)
    owner = TeamDatabase(pg.url(ADMIN, name), {})
    with owner.transaction():
        pass
    owner.close()
    return name


@pytest.fixture
def machine(pg: Postgres, database: str, tmp_path: Path) -> Iterator[Callable[..., Machine]]:
    made: list[Machine] = []

    def make(role: str, name: str = "", **more: object) -> Machine:
        folder = tmp_path / (name or role)
        folder.mkdir()
        made.append(Machine(folder, role, pg, database, **more))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        one.close()
