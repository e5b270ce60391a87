"""How a team's database is reached: encrypted and checked, whatever URL and environment say."""

import sys

import pytest

from pinfold.memories.records import StateError
from pinfold.memories.team.address import connect_arguments
from pinfold.memories.team.server import TeamDatabase

WEAK = "?sslmode=disable"


@pytest.mark.parametrize("host", ["db.example.com", "localhost", "10.0.0.7", "127.0.0.2"])
def test_the_servers_name_is_checked(host: str) -> None:
    made = connect_arguments(f"postgresql+psycopg://ada@{host}/team{WEAK}", {"PGSSLMODE": "allow"})
    assert made["sslmode"] == "verify-full"
    assert made["hostaddr"] == ""  # PGHOSTADDR would decide where it goes
    assert made["gssencmode"] == "disable"
    assert made["sslrootcert"]


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("postgresql+psycopg://ada@127.0.0.1/team", "127.0.0.1"),
        ("postgresql+psycopg://ada@[::1]:5433/team", "::1"),
        ("postgresql+psycopg://ada@/team?host=/run/postgresql", ""),
    ],
)
def test_what_stays_on_this_machine_needs_no_certificate(url: str, address: str) -> None:
    made = connect_arguments(url, {})
    assert (made["sslmode"], made["hostaddr"]) == ("prefer", address)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("postgresql+psycopg://ada:secret@db/team", "password"),
        ("postgresql+psycopg://ada@db/team?password=secret", "password"),
        ("postgresql+psycopg://ada@db/team?passfile=/x", "password"),
        ("postgresql+psycopg://ada@127.0.0.1/team?hostaddr=10.0.0.1", "can't set hostaddr"),
        ("postgresql+psycopg://ada@db/team?service=x", "can't set service"),
        ("postgresql+psycopg://ada@db,evil/team", "one host"),
        ("postgresql+psycopg:///team", "one host"),
        ("postgresql+psycopg://db/team", "role"),
        ("sqlite:///x", "must begin with"),
        ("postgresql+psycopg://ada@db:x/team", "not a URL"),
    ],
)
def test_what_is_refused(url: str, why: str) -> None:
    with pytest.raises(StateError, match=why) as error:
        connect_arguments(url, {})
    assert "secret" not in str(error.value)


def test_the_password_comes_from_the_environment_else_from_the_keyring() -> None:
    url = "postgresql+psycopg://ada@db.example.com/team"
    assert connect_arguments(url, {"PGPASSWORD": "one"})["password"] == "one"
    asked: list[str] = []
    made = connect_arguments(url, {}, lambda name: asked.append(name) or "two")  # type: ignore[func-returns-value]
    assert (made["password"], asked) == ("two", ["ada@db.example.com/team"])


def test_without_the_extra_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StateError, match=r'pip install "pinfold\[postgres\]"'):
        TeamDatabase("postgresql+psycopg://ada@127.0.0.1/team")
