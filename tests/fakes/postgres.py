"""A real PostgreSQL for tests, in a folder of its own: Debian's, run by a user that is not root."""

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pytest

ADMIN = "admin"
"""The database's owner: no superuser."""


def _binary(name: str) -> str | None:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def _user() -> str | None:
    """Who runs the server where we are root; None where nobody can."""
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    return None


def missing() -> str:
    """Why there is no server to test with; empty where there is."""
    if _binary("initdb") is None or _binary("postgres") is None:
        return "PostgreSQL is not installed"
    if os.getuid() == 0 and (_user() is None or shutil.which("setpriv") is None):
        return "PostgreSQL refuses root, and there is no other user to run it"
    return ""


needed = pytest.mark.skipif(bool(missing()), reason=missing() or "PostgreSQL is there")


def _as_user(*command: str) -> list[str]:
    if os.getuid():
        return list(command)
    user = _user()
    assert user is not None
    return [
        "setpriv",
        f"--reuid={user}",
        f"--regid={pwd.getpwnam(user).pw_gid}",
        "--clear-groups",
        *command,
    ]


class Postgres:
    """A running server."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.log = folder / "log"

    def sql(
        self, statement: str, *, role: str = "postgres", database: str = "postgres"
    ) -> list[tuple[object, ...]]:
        import psycopg

        with psycopg.connect(
            host=str(self.folder), port=self.port, user=role, dbname=database, autocommit=True
        ) as conn:
            done = conn.execute(statement)  # type: ignore[call-overload]
            return list(done.fetchall()) if done.description else []

    def url(self, role: str, database: str) -> str:
        return f"postgresql+psycopg://{role}@/{database}?host={self.folder}&port={self.port}"

    def tcp_url(self, role: str, database: str, host: str = "127.0.0.1") -> str:
        return f"postgresql+psycopg://{role}@{host}:{self.port}/{database}"

    def cut(self, role: str) -> None:
        """Cut the connections of a role."""
        self.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{role}'")

    def team_database(
        self, name: str, team: str = "payments", members: tuple[str, ...] = ("ada", "ben")
    ) -> None:
        """A database that `ADMIN` owns, and a team's role with its members."""
        roles = {str(row[0]) for row in self.sql("SELECT rolname FROM pg_roles")}
        for role in (ADMIN, *members):
            if role not in roles:
                self.sql(f"CREATE ROLE {role} LOGIN")
        if team not in roles:
            self.sql(f"CREATE ROLE {team}")
        for role in members:
            self.sql(f"GRANT {team} TO {role}")
        self.sql(f"CREATE DATABASE {name} OWNER {ADMIN}")


@contextmanager
def postgres(*settings: str, extra_files: dict[str, bytes] | None = None) -> Iterator[Postgres]:
    """A server on a Unix socket and 127.0.0.1; `settings` are lines of its configuration."""
    initdb, server = _binary("initdb"), _binary("postgres")
    assert initdb is not None
    assert server is not None
    folder = Path(mkdtemp(prefix="pinfold-pg-"))
    try:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        for name, data in (extra_files or {}).items():
            (folder / name).write_bytes(data)
            (folder / name).chmod(0o600)
        if os.getuid() == 0:
            who = pwd.getpwnam(_user() or "nobody")
            for path in (folder, *folder.iterdir()):
                os.chown(path, who.pw_uid, who.pw_gid)
        data = folder / "data"
        subprocess.run(
            _as_user(
                initdb,
                "-D",
                str(data),
                "-U",
                "postgres",
                "-A",
                "trust",
                "--no-sync",
                "-E",
                "UTF8",
                "--locale=C",
            ),
            check=True,
            capture_output=True,
            cwd="/",
        )
        with (data / "postgresql.conf").open("a") as conf:
            conf.write(
                "\n".join(
                    [
                        f"port = {port}",
                        f"unix_socket_directories = '{folder}'",
                        "listen_addresses = '127.0.0.1'",
                        "fsync = off",
                        "synchronous_commit = off",
                        "full_page_writes = off",
                        "shared_buffers = '16MB'",
                        "max_connections = 30",
                        "log_statement = 'none'",
                        *settings,
                        "",
                    ]
                )
            )
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                _as_user(server, "-D", str(data)), stdout=log, stderr=log, cwd="/"
            )
        running = Postgres(folder, port)
        try:
            _wait(running, process)
            folder.chmod(0o755)
            yield running
        finally:
            process.terminate()  # ends it at once once nobody is connected
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.send_signal(3)  # SIGQUIT: at once
                process.wait(10)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(running: Postgres, process: "subprocess.Popen[bytes]") -> None:
    import psycopg

    until = time.monotonic() + 30
    while True:
        try:
            running.sql("SELECT 1")
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > until:
                raise AssertionError(running.log.read_text()) from None
            time.sleep(0.02)
        else:
            return
