"""The tables of `memories.db`, and how they are brought up to date."""

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
"""Sessions that are never read again."""

confirmed = Table(
    "confirmed",
    tables,
    Column("line", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("confirmed_at", Float, nullable=False),
)
"""Hashes of lines that the user confirmed although their source has changed."""


VERSION = 2
"""Version 1 lacks the table `confirmed`."""


def version_of(conn: Connection) -> int:
    """The version of the tables; 0 if there are none yet."""
    if not inspect(conn).has_table(version.name):
        return 0
    return int(conn.execute(select(version.c.version)).scalar_one())


def migrate(conn: Connection) -> None:
    """Bring the tables up to date, within the caller's transaction."""
    if version_of(conn) < VERSION:
        tables.create_all(conn)  # those that are missing
        conn.execute(version.delete())
        conn.execute(version.insert().values(version=VERSION))
