"""Claims of jobs: owner, lease and token. All within the caller's transaction.

Times are seconds of the epoch.
"""

import secrets
from typing import Any

from sqlalchemy import ColumnElement, Connection
from sqlalchemy import update as change
from sqlalchemy.dialects.sqlite import insert

from pinfold.memories.records import Claim, JobKind, JobOutcome
from pinfold.memories.schema import jobs

LEASE = 3_600.0
"""Seconds that a claim is valid without a heartbeat."""
RETRY = 3_600.0
"""Seconds before the second attempt; doubled before each further one."""
MAX_RETRY = 7 * 86_400.0


def is_free(job: Any, now: float, *, force: bool) -> bool:
    """Whether a job can be claimed. A failed one waits for its retry time, unless `force`."""
    if job.status == "running":
        return bool(job.lease_until is None or job.lease_until <= now)
    return bool(force or job.status != "failed" or (job.retry_at or 0.0) <= now)


def take(
    conn: Connection, kind: JobKind, key: str, watermark: float, now: float, host: str
) -> Claim:
    """Claim a job, even if another process has it."""
    token = secrets.token_hex(16)
    values = {
        "host": host,
        "status": "running",
        "owner_token": token,
        "lease_until": now + LEASE,
        "retry_at": None,
        "input_watermark": watermark,
    }
    row = insert(jobs).values(kind=kind, key=key, attempts=1, **values)
    again = {**values, "attempts": jobs.c.attempts + 1}
    conn.execute(row.on_conflict_do_update(index_elements=["kind", "key"], set_=again))
    return Claim(kind, key, token, watermark)


def finish(conn: Connection, claim: Claim, outcome: JobOutcome, watermark: float) -> bool:
    """End a job successfully; False if it is no longer ours."""
    return update(
        conn,
        claim,
        status=outcome,
        completed_watermark=watermark,
        attempts=0,
        error=None,
        retry_at=None,
        owner_token=None,
        lease_until=None,
    )


def update(conn: Connection, claim: Claim, **values: Any) -> bool:
    """Change the row of a job; False if it is no longer ours."""
    return bool(conn.execute(change(jobs).where(*ours(claim)).values(**values)).rowcount)


def ours(claim: Claim) -> tuple[ColumnElement[bool], ...]:
    """Conditions that match the job's row while the claim is valid."""
    return (
        jobs.c.kind == claim.kind,
        jobs.c.key == claim.key,
        jobs.c.status == "running",
        jobs.c.owner_token == claim.token,
    )
