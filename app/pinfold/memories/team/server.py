"""A team's database: connections, errors as sentences, setting up the tables.

SQLAlchemy and the driver are slow to import: import this module where it is used.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, NullPool, create_engine, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from pinfold.memories.records import StateError
from pinfold.memories.team.address import SCHEME, connect_arguments, from_keyring
from pinfold.memories.team.steps import STEPS
from pinfold.sanitize import one_line

LOCK = 0x70696E66
"""The advisory lock for changing the tables."""
TIMEOUT = 30.0
"""Seconds that an SQL statement may take."""


class Unreachable(StateError):
    """There is no connection, or it broke."""


class TeamDatabase:
    """The database at a URL. Every function blocks and raises `StateError`."""

    def __init__(
        self, url: str, env: Mapping[str, str] = os.environ, *, timeout: float = TIMEOUT
    ) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise StateError(
                'A team\'s database needs an extra: pip install "pinfold[postgres]".'
            ) from error
        arguments = connect_arguments(url, env, from_keyring)
        arguments["options"] = (
            f"-c search_path=pg_catalog -c statement_timeout={int(timeout * 1000)} "
            f"-c lock_timeout={int(timeout * 1000)}"
        )
        self.role: str = arguments["user"]
        self.shown = f"{arguments['host']}:{arguments['port']}/{arguments['dbname']}"
        self._checked = False
        self._engine = create_engine(
            f"{SCHEME}://", creator=lambda: psycopg.connect(**arguments), poolclass=NullPool
        )

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """One transaction; undone if the block raises."""
        with self._plainly(), self._engine.begin() as conn:
            if not self._checked:
                _refuse_role_without_limits(conn)
                _migrate(conn)
            yield conn
            self._checked = True

    def access(self, conn: Connection, teams: Sequence[str]) -> dict[str, str]:
        """What the role may do in each team. Raises `StateError` if it is not in all of them."""
        found: dict[str, str] = {}
        for team in teams:
            row = conn.execute(
                text(
                    "SELECT pinfold.is_member(:team) AS member, pinfold.is_owner(:team) AS owner,"
                    " EXISTS (SELECT FROM pg_roles WHERE rolname = :team) AS known"
                ),
                {"team": team},
            ).one()
            if not row.known:
                raise StateError(
                    f"The server has no role {team}, which the members of the team are granted: "
                    f"CREATE ROLE {team}; GRANT {team} TO {self.role};"
                )
            if not (row.member or row.owner):
                raise StateError(
                    f"The role {self.role} is not a member of {team}: GRANT {team} TO {self.role};"
                )
            found[f"in {team}"] = "the owner, may forget any line" if row.owner else "a member"
        return found

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            why = _reason(str(error.orig))
            if error.connection_invalidated or _is_cut(error):
                raise Unreachable(
                    f"The team's database {self.shown} can't be reached: {why}."
                ) from error
            raise StateError(f"The team's database {self.shown} refused: {why}.") from error
        except SQLAlchemyError as error:
            raise StateError(
                f"The team's database {self.shown} can't be used: {_reason(str(error))}."
            ) from error


def _is_cut(error: DBAPIError) -> bool:
    """Whether the connection failed, not a statement, which has an error code of the server."""
    code = getattr(error.orig, "sqlstate", None)
    return code is None or str(code).startswith(("08", "57P", "53", "28"))


def code_of(error: BaseException | None) -> str:
    """The server's error code; empty if there is none."""
    while error is not None:
        if isinstance(error, DBAPIError):
            return str(getattr(error.orig, "sqlstate", None) or "")
        error = error.__cause__
    return ""


def _refuse_role_without_limits(conn: Connection) -> None:
    role = conn.execute(
        text(
            "SELECT rolname, rolsuper FROM pg_roles WHERE (rolsuper OR rolbypassrls)"
            " AND pg_has_role(current_user, oid, 'MEMBER') LIMIT 1"
        )
    ).one_or_none()
    if role is not None:
        me = conn.scalar(text("SELECT current_user"))
        what = "a superuser" if role.rolsuper else "free of row-level security (BYPASSRLS)"
        whose = (
            f"The role {me} is"
            if me == role.rolname
            else f"The role {me} may become {role.rolname}, which is"
        )
        raise StateError(
            f"{whose} {what}: it could change what others have shared. Use a plain role."
        )


def _migrate(conn: Connection) -> None:
    """Bring the tables up to date, one process at a time."""
    if _version(conn) == len(STEPS):
        return
    conn.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    version = _version(conn)
    if version > len(STEPS):
        raise StateError("The team's database was set up by a newer pinfold: update yours.")
    if version == len(STEPS):
        return
    owner = conn.scalar(
        text(
            "SELECT pg_get_userbyid(coalesce((SELECT nspowner FROM pg_namespace"
            " WHERE nspname = 'pinfold'), (SELECT datdba FROM pg_database"
            " WHERE datname = current_database())))"
        )
    )
    may = conn.scalar(
        text(
            "SELECT pg_has_role(current_user, :owner, 'USAGE') OR (:version = 0 AND"
            " has_database_privilege(current_database(), 'CREATE'))"
        ),
        {"owner": owner, "version": version},
    )
    if not may:
        done = "updated" if version else "set up"
        raise StateError(
            f"The team's database is not {done} yet: its owner, {owner}, does that with "
            "`pinfold memories doctor`."
        )
    for step in STEPS[version:]:
        conn.exec_driver_sql(step)
    if version == 0:
        conn.execute(text("INSERT INTO pinfold.schema_version VALUES (0)"))
    conn.execute(text("UPDATE pinfold.schema_version SET version = :new"), {"new": len(STEPS)})


def _version(conn: Connection) -> int:
    # Not `to_regclass`: its answer may be cached, and another process may have made them.
    there = conn.scalar(
        text(
            "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = 'pinfold' AND c.relname = 'schema_version')"
        )
    )
    return int(conn.scalar(text("SELECT version FROM pinfold.schema_version")) or 0) if there else 0


def _reason(why: str) -> str:
    first = re.sub(r"^connection (is bad|failed): ", "", one_line(why.partition("\n")[0]))
    return first.strip().rstrip(".") or "it gave no reason"
