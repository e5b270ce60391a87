"""A team's database is reached over TLS with its name checked, or not at all."""

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from fakes.certificates import Authority
from fakes.postgres import ADMIN, Postgres, needed, postgres
from pinfold.memories.records import StateError
from pinfold.memories.team.server import TeamDatabase

pytestmark = [needed, pytest.mark.slow]


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("ours")


@pytest.fixture
def roots(authority: Authority, tmp_path: Path) -> Path:
    path = tmp_path / "roots.pem"
    path.write_bytes(authority.pem)
    return path


def _serving(certificate: tuple[bytes, bytes] | None) -> AbstractContextManager[Postgres]:
    if certificate is None:
        return postgres()
    pem, key = certificate
    files = {"server.crt": pem, "server.key": key}
    return postgres(
        "ssl = on",
        "ssl_cert_file = '../server.crt'",
        "ssl_key_file = '../server.key'",
        extra_files=files,
    )


WEAK = {"PGSSLMODE": "disable", "PGGSSENCMODE": "prefer", "PGSSLROOTCERT": "/nonexistent"}


def reach(pg: Postgres, roots: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connect by a name, which is never exempt; the environment tries to weaken it."""
    for name, value in WEAK.items():
        monkeypatch.setenv(name, value)
    url = pg.tcp_url(ADMIN, "team", "localhost")
    server = TeamDatabase(f"{url}?sslmode=disable&sslrootcert={roots}")
    try:
        with server.transaction() as conn:
            used = conn.exec_driver_sql(
                "SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
            ).one()
            assert used.ssl
            assert used.version >= "TLSv1.2"
    finally:
        server.close()


def test_what_is_reached_and_what_is_refused(
    authority: Authority, roots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = {
        "": authority.server("localhost"),
        "does not support SSL": None,
        "certificate verify failed": Authority("theirs").server("localhost"),
        'does not match host name "localhost"': authority.server("db.example.com"),
    }
    for why, certificate in cases.items():
        with _serving(certificate) as pg:
            pg.team_database("team")
            if not why:
                reach(pg, roots, monkeypatch)
                continue
            with pytest.raises(StateError, match="can't be reached") as error:
                reach(pg, roots, monkeypatch)
            assert why in str(error.value.__cause__)


def test_an_address_from_the_environment_does_not_decide_where_it_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with postgres() as pg:
        pg.team_database("team")
        monkeypatch.setenv("PGHOSTADDR", "203.0.113.1")
        monkeypatch.setenv("PGPORT", "1")
        for url in (pg.url(ADMIN, "team"), pg.tcp_url(ADMIN, "team")):
            server = TeamDatabase(url)
            with server.transaction():
                pass
            server.close()
