"""The jobs and records of memories in `memories.db`.

Each change is one transaction that locks the database from its beginning (`BEGIN IMMEDIATE`), so
that a process sees what others did. Times are seconds of the epoch. Every function blocks, and may
be called from any thread.

SQLAlchemy is slow to import: import this module where it is used, and `records` for its values.
"""

import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Row, delete, func, select, update
from sqlalchemy.dialects.sqlite import insert

from pinfold.memories import leases
from pinfold.memories.database import MemoriesDatabase
from pinfold.memories.leases import LEASE, MAX_RETRY, RETRY
from pinfold.memories.records import (
    Claim,
    Extracted,
    JobKind,
    JobOutcome,
    JobRow,
    Output,
    SessionCandidate,
)
from pinfold.memories.schema import confirmed, forgotten, jobs, outputs

PRUNED = 200
"""Most rows that one run removes."""
_GLOBAL = "global"
_LAST = func.coalesce(outputs.c.last_usage, outputs.c.generated_at)


class MemoriesState:
    """The database in `folder`. Every function raises `StateError`."""

    def __init__(self, folder: Path, now: Callable[[], datetime]) -> None:
        self._now = lambda: now().timestamp()
        self._host = socket.gethostname()
        self._db = MemoriesDatabase(folder)

    @property
    def path(self) -> Path:
        return self._db.path

    def close(self) -> None:
        self._db.close()

    # Phase 1: one job per session

    def claim_sessions(
        self, candidates: Iterable[SessionCandidate], limit: int, *, force: bool = False
    ) -> list[Claim]:
        """Claim up to `limit` sessions that have changed since they were read and are not claimed.

        A failed one waits for its retry time, unless `force`.
        """
        with self._db.writing() as conn:
            gone = set(conn.scalars(select(forgotten).with_only_columns(forgotten.c.session_id)))
            rows = conn.execute(select(jobs).where(jobs.c.kind == "extract"))
            known = {row.key: row for row in rows}
            claims: list[Claim] = []
            for candidate in candidates:
                if len(claims) >= limit:
                    break
                job = known.get(candidate.session)
                done = job and job.completed_watermark
                if candidate.session in gone or (done and done >= candidate.source_updated_at):
                    continue
                if job and not leases.is_free(job, self._now(), force=force):
                    continue
                claims.append(
                    self._claim(conn, "extract", candidate.session, candidate.source_updated_at)
                )
            return claims

    def finish_extracted(
        self, claim: Claim, candidate: SessionCandidate, made: Extracted | None
    ) -> bool:
        """Store the record of a session; None if nothing is worth remembering.

        Does nothing and returns False if the claim is no longer ours.
        """
        with self._db.writing() as conn:
            outcome: JobOutcome = "succeeded" if made else "succeeded_no_output"
            if not leases.finish(conn, claim, outcome, claim.input_watermark):
                return False
            ours = outputs.c.session_id == claim.key
            if made is None:
                conn.execute(delete(outputs).where(ours))
                return True
            values = {
                "host": self._host,
                "rollout_path": candidate.rollout_path,
                "cwd": candidate.cwd,
                "source_updated_at": claim.input_watermark,
                "generated_at": self._now(),
                "raw_memory": made.raw_memory,
                "rollout_summary": made.rollout_summary,
                "rollout_slug": made.rollout_slug,
            }
            row = insert(outputs).values(session_id=claim.key, **values)
            conn.execute(row.on_conflict_do_update(index_elements=["session_id"], set_=values))
            return True

    # Phase 2: one job for all

    def claim_consolidation(self, *, force: bool = False) -> Claim | None:
        """Claim the consolidation; None if another process has it, or before the retry time of a
        failure, unless `force`."""
        with self._db.writing() as conn:
            job = conn.execute(
                select(jobs).where(jobs.c.kind == "consolidate", jobs.c.key == _GLOBAL)
            ).one_or_none()
            if job and not leases.is_free(job, self._now(), force=force):
                return None
            newest = conn.scalar(select(func.max(outputs.c.source_updated_at))) or 0.0
            if job:
                newest = max(newest, job.input_watermark or 0.0, job.completed_watermark or 0.0)
            return self._claim(conn, "consolidate", _GLOBAL, newest)

    def selection(self, limit: int, max_unused_days: float) -> list[Output]:
        """The records to consolidate: used, or else made, in the last days; by use, then date."""
        fresh = self._now() - max_unused_days * 86_400 <= _LAST
        order = outputs.c.usage_count.desc(), _LAST.desc(), outputs.c.session_id
        with self._db.reading() as conn:
            rows = conn.execute(select(outputs).where(fresh).order_by(*order).limit(limit))
            return [_output(row) for row in rows]

    def finish_consolidation(self, claim: Claim, used: Sequence[Output], watermark: float) -> bool:
        """Mark exactly these records, in these versions, as selected.

        Does nothing and returns False if the claim is no longer ours.
        """
        with self._db.writing() as conn:
            if not leases.finish(conn, claim, "succeeded", max(watermark, claim.input_watermark)):
                return False
            conn.execute(
                update(outputs).values(
                    selected_for_phase2=False, selected_for_phase2_source_updated_at=None
                )
            )
            for output in used:
                conn.execute(
                    update(outputs)
                    .where(outputs.c.session_id == output.session_id)
                    .where(outputs.c.source_updated_at == output.source_updated_at)
                    .values(
                        selected_for_phase2=True,
                        selected_for_phase2_source_updated_at=output.source_updated_at,
                    )
                )
            return True

    def prune(self, max_unused_days: float, limit: int = PRUNED) -> int:
        """Remove up to `limit` records not used for that long, oldest first. Returns how many."""
        old = self._now() - max_unused_days * 86_400 > _LAST
        oldest = select(outputs.c.session_id).where(old).order_by(_LAST).limit(limit)
        with self._db.writing() as conn:
            return conn.execute(delete(outputs).where(outputs.c.session_id.in_(oldest))).rowcount

    # Both phases

    def heartbeat(self, claim: Claim, lease: float = LEASE) -> bool:
        """Extend a claim by a lease; False if it is no longer ours."""
        with self._db.writing() as conn:
            return leases.update(conn, claim, lease_until=self._now() + lease)

    def owns(self, claim: Claim) -> bool:
        """Whether a claim is still ours. Check before each write."""
        with self._db.reading() as conn:
            return conn.execute(select(jobs).where(*leases.ours(claim))).one_or_none() is not None

    def fail(self, claim: Claim, error: str) -> bool:
        """End a job as failed; it is tried again later, each time after twice as long."""
        with self._db.writing() as conn:
            attempts = conn.scalar(
                select(jobs).with_only_columns(jobs.c.attempts).where(*leases.ours(claim))
            )
            wait = min(RETRY * 2.0 ** min((attempts or 1) - 1, 20), MAX_RETRY)
            return leases.update(
                conn,
                claim,
                status="failed",
                error=error,
                retry_at=self._now() + wait,
                owner_token=None,
                lease_until=None,
            )

    def release(self, *claims: Claim) -> int:
        """Undo claims. Returns how many were still ours."""
        back = {"status": "released", "owner_token": None, "lease_until": None}
        with self._db.writing() as conn:
            return sum(
                leases.update(conn, claim, attempts=jobs.c.attempts - 1, **back) for claim in claims
            )

    # Use

    def count_use(self, sessions: Iterable[str], at: datetime | None = None) -> int:
        """Count one more use of each of these sessions' memories. Returns how many there are."""
        now = at.timestamp() if at else self._now()
        with self._db.writing() as conn:
            return conn.execute(
                update(outputs)
                .where(outputs.c.session_id.in_(set(sessions)))
                .values(usage_count=outputs.c.usage_count + 1, last_usage=now)
            ).rowcount

    def set_usage(self, usage: Mapping[str, tuple[int, float | None]]) -> None:
        """Replace all counts."""
        with self._db.writing() as conn:
            conn.execute(update(outputs).values(usage_count=0, last_usage=None))
            for session, (count, last) in usage.items():
                conn.execute(
                    update(outputs)
                    .where(outputs.c.session_id == session)
                    .values(usage_count=count, last_usage=last)
                )

    def confirm(self, line: str) -> None:
        """Note that the line with this hash is valid although its source has changed."""
        with self._db.writing() as conn:
            row = insert(confirmed).values(line=line, host=self._host, confirmed_at=self._now())
            conn.execute(row.on_conflict_do_nothing())

    def confirmed(self) -> list[str]:
        with self._db.reading() as conn:
            return sorted(row.line for row in conn.execute(select(confirmed)))

    def strike(self, session: str, line: str) -> None:
        """Remove a line from the record of a session."""
        ours = outputs.c.session_id == session
        with self._db.writing() as conn:
            row = conn.execute(select(outputs).where(ours)).one_or_none()
            if row is not None:
                lines = row.raw_memory.splitlines()
                raw = "".join(f"{other}\n" for other in lines if other.strip() != line)
                conn.execute(update(outputs).where(ours).values(raw_memory=raw))

    def forget(self, session: str) -> None:
        """Remove what is known of a session, and never read it again."""
        with self._db.writing() as conn:
            conn.execute(delete(outputs).where(outputs.c.session_id == session))
            conn.execute(delete(jobs).where(jobs.c.kind == "extract", jobs.c.key == session))
            gone = insert(forgotten).values(
                session_id=session, host=self._host, forgotten_at=self._now()
            )
            conn.execute(gone.on_conflict_do_nothing())
        self._db.clean()

    def clear(self) -> None:
        """Remove all records and jobs; forgotten sessions stay forgotten."""
        with self._db.writing() as conn:
            conn.execute(delete(outputs))
            conn.execute(delete(jobs))
            conn.execute(delete(confirmed))
        self._db.clean()

    def output(self, session: str) -> Output | None:
        return next((row for row in self.outputs() if row.session_id == session), None)

    def outputs(self) -> list[Output]:
        """All records, by session id."""
        with self._db.reading() as conn:
            rows = conn.execute(select(outputs).order_by(outputs.c.session_id))
            return [_output(row) for row in rows]

    def jobs(self) -> list[JobRow]:
        with self._db.reading() as conn:
            rows = conn.execute(select(jobs).order_by(jobs.c.kind, jobs.c.key))
            return [JobRow(**_fields(JobRow, row)) for row in rows]

    def forgotten(self) -> list[str]:
        with self._db.reading() as conn:
            return sorted(row.session_id for row in conn.execute(select(forgotten)))

    def _claim(self, conn: Connection, kind: JobKind, key: str, watermark: float) -> Claim:
        return leases.take(conn, kind, key, watermark, self._now(), self._host)


def _output(row: Row[Any]) -> Output:
    return Output(**{**_fields(Output, row), "rollout_slug": row.rollout_slug or ""})


def _fields(kind: type[Struct], row: Row[Any]) -> dict[str, Any]:
    return {name: row._mapping[name] for name in kind.__struct_fields__}
