"""The tables of `memories.db`, and the steps from each version of them to the next."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Float,
    Integer,
    MetaData,
    Table,
    Text,
    inspect,
    select,
    text,
)

tables = MetaData()

version = Table("schema_version", tables, Column("version", Integer, nullable=False))

jobs = Table(
    "jobs",
    tables,
    Column("kind", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("owner_token", Text),
    Column("lease_until", Float),
    Column("retry_at", Float),
    Column("attempts", Integer, nullable=False, default=0),
    Column("error", Text),
    Column("input_watermark", Float),
    Column("completed_watermark", Float),
)

outputs = Table(
    "stage1_outputs",
    tables,
    Column("session_id", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("rollout_path", Text, nullable=False),
    Column("cwd", Text, nullable=False),
    Column("source_updated_at", Float, nullable=False),
    Column("generated_at", Float, nullable=False),
    Column("raw_memory", Text, nullable=False),
    Column("rollout_summary", Text, nullable=False),
    Column("rollout_slug", Text),
    Column("usage_count", Integer, nullable=False, default=0),
    Column("last_usage", Float),
    Column("selected_for_phase2", Boolean, nullable=False, default=False),
    Column("selected_for_phase2_source_updated_at", Float),
)

forgotten = Table(
    "forgotten_sessions",
    tables,
    Column("session_id", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("forgotten_at", Float, nullable=False),
)
"""Sessions of which nothing is remembered, ever again."""

confirmed = Table(
    "confirmed",
    tables,
    Column("line", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("confirmed_at", Float, nullable=False),
)
"""Hashes of lines that the user confirmed though what they quote has changed."""


def _create_tables(conn: Connection) -> None:
    conn.execute(
        text(
            "CREATE TABLE jobs (kind TEXT NOT NULL, key TEXT NOT NULL, host TEXT NOT NULL,"
            " status TEXT NOT NULL, owner_token TEXT, lease_until FLOAT, retry_at FLOAT,"
            " attempts INTEGER NOT NULL, error TEXT, input_watermark FLOAT,"
            " completed_watermark FLOAT, PRIMARY KEY (kind, key))"
        )
    )
    conn.execute(
        text(
            "CREATE TABLE stage1_outputs (session_id TEXT NOT NULL PRIMARY KEY,"
            " host TEXT NOT NULL, rollout_path TEXT NOT NULL, cwd TEXT NOT NULL,"
            " source_updated_at FLOAT NOT NULL, generated_at FLOAT NOT NULL,"
            " raw_memory TEXT NOT NULL, rollout_summary TEXT NOT NULL, rollout_slug TEXT,"
            " usage_count INTEGER NOT NULL, last_usage FLOAT,"
            " selected_for_phase2 BOOLEAN NOT NULL,"
            " selected_for_phase2_source_updated_at FLOAT)"
        )
    )
    conn.execute(
        text(
            "CREATE TABLE forgotten_sessions (session_id TEXT NOT NULL PRIMARY KEY,"
            " host TEXT NOT NULL, forgotten_at FLOAT NOT NULL)"
        )
    )


def _confirmed(conn: Connection) -> None:
    conn.execute(
        text(
            "CREATE TABLE confirmed (line TEXT NOT NULL PRIMARY KEY, host TEXT NOT NULL,"
            " confirmed_at FLOAT NOT NULL)"
        )
    )


MIGRATIONS: tuple[Callable[[Connection], Any], ...] = (_create_tables, _confirmed)
"""The n-th goes from version n to n + 1. One that has been released never changes: a test holds
that all of them together make the tables above."""


def version_of(conn: Connection) -> int:
    """The version of the tables; 0 where there are none yet."""
    if not inspect(conn).has_table(version.name):
        return 0
    return int(conn.execute(select(version.c.version)).scalar_one())


def migrate(conn: Connection) -> None:
    """Bring the tables up to date, within the caller's transaction."""
    now = version_of(conn)
    if now == 0:
        version.create(conn)
        conn.execute(version.insert().values(version=0))
    for step in MIGRATIONS[now:]:
        step(conn)
    conn.execute(version.update().values(version=len(MIGRATIONS)))
