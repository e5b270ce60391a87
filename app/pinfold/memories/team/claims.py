"""Claims of a team's jobs: one machine has each until its lease ends, by the database's clock."""

import secrets
from collections.abc import Collection, Mapping
from datetime import timedelta

from sqlalchemy import ColumnElement, Connection, and_, delete, func, or_, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert

from pinfold.memories.leases import LEASE, MAX_RETRY, RETRY
from pinfold.memories.team.server import TeamDatabase, Unreachable
from pinfold.memories.team.tables import jobs
from pinfold.memories.team.values import TeamClaim, TeamJobKind

_NOW = func.clock_timestamp()


class Claims:
    """The jobs of the machine `host`. Every function blocks and raises `StateError`."""

    def __init__(self, server: TeamDatabase, host: str, lease: float = LEASE) -> None:
        """`lease` is in seconds, at most an hour."""
        self._server = server
        self._host = host
        self._lease = timedelta(seconds=lease)

    def queue(self, team: str, wanted: Mapping[str, str]) -> None:
        """Queue sessions to be published; `wanted` has the input of each. A session that was
        published with the same input is not published again."""
        with self._server.transaction() as conn:
            known = dict(
                conn.execute(
                    select(jobs.c.key, jobs.c.input).where(
                        jobs.c.kind == "publish", jobs.c.team == team, jobs.c.host == self._host
                    )
                ).all()
            )
            for session, given in wanted.items():
                if known.get(session) != given:
                    queued = insert(jobs).values(
                        kind="publish", key=session, team=team, host=self._host, input=given
                    )
                    conn.execute(
                        queued.on_conflict_do_update(
                            index_elements=["kind", "key"],
                            set_={"input": given, "host": self._host, "retry_at": None},
                        )
                    )

    def claim(
        self, kind: TeamJobKind, teams: Collection[str], limit: int, *, force: bool = False
    ) -> list[TeamClaim]:
        """Claim up to `limit` jobs that are due; a failed one waits for its retry time, unless
        `force`. If the connection breaks, it connects again and looks up what it has claimed."""
        token = secrets.token_hex(16)

        def take(conn: Connection) -> list[TeamClaim]:
            due = [
                jobs.c.kind == kind,
                jobs.c.team.in_(list(teams)),
                jobs.c.input.is_distinct_from(jobs.c.done),
                or_(jobs.c.status != "running", jobs.c.lease_until <= _NOW),
            ]
            if kind == "publish":
                due.append(jobs.c.host == self._host)
            if not force:
                due.append(or_(jobs.c.retry_at.is_(None), jobs.c.retry_at <= _NOW))
            free = (
                select(jobs.c.kind, jobs.c.key)
                .where(*due)
                .order_by(jobs.c.key)
                .limit(limit)
                .with_for_update(skip_locked=True)
            )
            taken = (
                update(jobs)
                .where(tuple_(jobs.c.kind, jobs.c.key).in_(free))
                .values(
                    status="running",
                    token=token,
                    holder=func.current_user(),
                    host=self._host,
                    lease_until=_NOW + self._lease,
                    attempts=jobs.c.attempts + 1,
                )
                .returning(jobs.c.kind, jobs.c.key, jobs.c.token, jobs.c.input)
            )
            return _claims(conn.execute(taken).all())

        try:
            with self._server.transaction() as conn:
                return take(conn)
        except Unreachable:
            with self._server.transaction() as conn:
                return self._held(conn, token) or take(conn)

    def _held(self, conn: Connection, token: str) -> list[TeamClaim]:
        held = select(jobs.c.kind, jobs.c.key, jobs.c.token, jobs.c.input)
        return _claims(conn.execute(held.where(jobs.c.token == token)).all())

    def heartbeat(self, claim: TeamClaim) -> bool:
        """Extend a claim by a lease; False if it is no longer ours."""
        with self._server.transaction() as conn:
            return _changed(conn, claim, lease_until=_NOW + self._lease)

    def fail(self, claim: TeamClaim, error: str) -> bool:
        """End a job as failed; it is tried again later, each time after twice as long."""
        wait = func.least(RETRY * func.power(2.0, func.least(jobs.c.attempts - 1, 20)), MAX_RETRY)
        with self._server.transaction() as conn:
            return _changed(
                conn,
                claim,
                **_FREE,
                status="failed",
                error=error,
                retry_at=_NOW + wait * timedelta(seconds=1),
            )

    def drop(self, claim: TeamClaim) -> None:
        """Remove a job."""
        with self._server.transaction() as conn:
            conn.execute(delete(jobs).where(_is_held(claim)))

    def release(self, claims: Collection[TeamClaim]) -> None:
        """Undo claims."""
        with self._server.transaction() as conn:
            for claim in claims:
                _changed(conn, claim, **_FREE, status="waiting", attempts=jobs.c.attempts - 1)


_FREE = {"token": None, "holder": None, "lease_until": None}


def finish(conn: Connection, claim: TeamClaim) -> bool:
    """End a job successfully, in the transaction of its result; False if it is no longer ours."""
    return _changed(
        conn,
        claim,
        **_FREE,
        status="succeeded",
        done=claim.input,
        attempts=0,
        error=None,
        retry_at=None,
    )


def _changed(conn: Connection, claim: TeamClaim, **values: object) -> bool:
    return bool(conn.execute(update(jobs).where(_is_held(claim)).values(**values)).rowcount)


def _is_held(claim: TeamClaim) -> ColumnElement[bool]:
    return and_(
        jobs.c.kind == claim.kind,
        jobs.c.key == claim.key,
        jobs.c.token == claim.token,
        jobs.c.status == "running",
    )


def _claims(rows: Collection[object]) -> list[TeamClaim]:
    return sorted((TeamClaim(*row) for row in rows), key=lambda claim: claim.key)  # type: ignore[misc]
