"""The state of memories in `memories.db`: which session is being read by whom, what came of it.

Whatever changes it is one transaction that locks the database from its beginning (`BEGIN
IMMEDIATE` in SQLite), so that of two processes one sees what the other did. Times are seconds of
the epoch. All of it blocks; each function may be called from any thread.

SQLAlchemy is heavy: import this module where it is used, and `records` for its values.
"""

import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Row, delete, func, insert, select, update

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
"""Rows that one run removes at most."""
_GLOBAL = "global"
_LAST = func.coalesce(outputs.c.last_usage, outputs.c.generated_at)


class MemoriesState:
    """The state in the database of `folder`. Every function raises `StateError`."""

    def __init__(self, folder: Path, now: Callable[[], datetime]) -> None:
        self._now = lambda: now().timestamp()
        self._host = socket.gethostname()
        self._db = MemoriesDatabase(folder)

    @property
    def path(self) -> Path:
        return self._db.path

    def close(self) -> None:
        self._db.close()

    # Phase 1: a session each

    def claim_sessions(
        self, candidates: Iterable[SessionCandidate], limit: int, *, force: bool = False
    ) -> list[Claim]:
        """Claim the first `limit` that have changed since they were last read and are nobody's.

        A failed one waits until its retry time, unless `force`.
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
        """Keep what was made of the session; None where nothing of it is worth remembering.

        False, and nothing happens, where the claim is no longer ours.
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
            if not conn.execute(update(outputs).where(ours).values(values)).rowcount:
                conn.execute(insert(outputs).values(session_id=claim.key, **values))
            return True

    # Phase 2: one job for all

    def claim_consolidation(self, *, force: bool = False) -> Claim | None:
        """Claim the one consolidation; None while another has it or, unless `force`, while the
        retry time of a failure has not come."""
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
        """What consolidation reads: used, or else made, in the last days; by use, then recency."""
        fresh = self._now() - max_unused_days * 86_400 <= _LAST
        order = outputs.c.usage_count.desc(), _LAST.desc(), outputs.c.session_id
        with self._db.reading() as conn:
            rows = conn.execute(select(outputs).where(fresh).order_by(*order).limit(limit))
            return [_output(row) for row in rows]

    def finish_consolidation(self, claim: Claim, used: Sequence[Output], watermark: float) -> bool:
        """Mark exactly these snapshots as selected, and nothing else.

        False, and nothing happens, where the claim is no longer ours.
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
        """Remove rows that nobody has used for that long, at most `limit`; the oldest first."""
        old = self._now() - max_unused_days * 86_400 > _LAST
        oldest = select(outputs.c.session_id).where(old).order_by(_LAST).limit(limit)
        with self._db.writing() as conn:
            return conn.execute(delete(outputs).where(outputs.c.session_id.in_(oldest))).rowcount

    # Either

    def heartbeat(self, claim: Claim, lease: float = LEASE) -> bool:
        """Hold a claim for another lease; False where it is no longer ours."""
        with self._db.writing() as conn:
            return leases.update(conn, claim, lease_until=self._now() + lease)

    def owns(self, claim: Claim) -> bool:
        """Whether a claim is still ours. Ask before each write."""
        with self._db.reading() as conn:
            return conn.execute(select(jobs).where(*leases.ours(claim))).one_or_none() is not None

    def fail(self, claim: Claim, error: str) -> bool:
        """The job failed; it is tried again later, each time after twice as long."""
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
        """Give claims back as if they had never been made. How many of them were still ours."""
        back = {"status": "released", "owner_token": None, "lease_until": None}
        with self._db.writing() as conn:
            return sum(
                leases.update(conn, claim, attempts=jobs.c.attempts - 1, **back) for claim in claims
            )

    # Use

    def count_use(self, sessions: Iterable[str], at: datetime | None = None) -> int:
        """One more use of each of these sessions' memories. How many of them there are."""
        now = at.timestamp() if at else self._now()
        with self._db.writing() as conn:
            return conn.execute(
                update(outputs)
                .where(outputs.c.session_id.in_(set(sessions)))
                .values(usage_count=outputs.c.usage_count + 1, last_usage=now)
            ).rowcount

    def set_usage(self, usage: Mapping[str, tuple[int, float | None]]) -> None:
        """Replace all counts by these, which were rebuilt from journals."""
        with self._db.writing() as conn:
            conn.execute(update(outputs).values(usage_count=0, last_usage=None))
            for session, (count, last) in usage.items():
                conn.execute(
                    update(outputs)
                    .where(outputs.c.session_id == session)
                    .values(usage_count=count, last_usage=last)
                )

    def confirm(self, line: str) -> None:
        """The line with this hash holds, whatever became of what it quotes."""
        with self._db.writing() as conn:
            if conn.execute(select(confirmed).where(confirmed.c.line == line)).first() is None:
                conn.execute(
                    insert(confirmed).values(line=line, host=self._host, confirmed_at=self._now())
                )

    def confirmed(self) -> list[str]:
        with self._db.reading() as conn:
            return sorted(row.line for row in conn.execute(select(confirmed)))

    def strike(self, session: str, line: str) -> None:
        """Remove a line from the record of a session."""
        ours = outputs.c.session_id == session
        with self._db.writing() as conn:
            row = conn.execute(select(outputs).where(ours)).one_or_none()
            if row is not None:
                kept = [
                    kept_line
                    for kept_line in row.raw_memory.splitlines()
                    if kept_line.strip() != line
                ]
                raw = "".join(f"{kept_line}\n" for kept_line in kept)
                conn.execute(update(outputs).where(ours).values(raw_memory=raw))

    def forget(self, session: str) -> None:
        """Remove what is remembered of a session, and never read it again."""
        with self._db.writing() as conn:
            conn.execute(delete(outputs).where(outputs.c.session_id == session))
            conn.execute(delete(jobs).where(jobs.c.kind == "extract", jobs.c.key == session))
            conn.execute(delete(forgotten).where(forgotten.c.session_id == session))
            conn.execute(
                insert(forgotten).values(
                    session_id=session, host=self._host, forgotten_at=self._now()
                )
            )
        self._db.clean()

    def clear(self) -> None:
        """Remove every memory and every job; what was forgotten stays forgotten."""
        with self._db.writing() as conn:
            conn.execute(delete(outputs))
            conn.execute(delete(jobs))
            conn.execute(delete(confirmed))
        self._db.clean()

    def output(self, session: str) -> Output | None:
        return next((row for row in self.outputs() if row.session_id == session), None)

    def outputs(self) -> list[Output]:
        """All records, in the order of their sessions' ids."""
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
