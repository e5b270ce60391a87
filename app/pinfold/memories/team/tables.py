"""The tables of a team's database for SQLAlchemy; `steps.py` creates them."""

from typing import Any

from sqlalchemy import Column, DateTime, Integer, MetaData, Table, Text

_tables = MetaData(schema="pinfold")
_TIME = DateTime(timezone=True)


def _table(
    name: str, *columns: str, times: tuple[str, ...] = (), numbers: tuple[str, ...] = ()
) -> Table:
    every: list[Column[Any]] = [Column(column, Text) for column in columns]
    every += [Column(column, _TIME) for column in times]
    every += [Column(column, Integer) for column in numbers]
    return Table(name, _tables, *every)


lines = _table(
    "lines", "team", "id", "owner", "host", "session", "folder", "said", "stale", times=("since",)
)
quotes = _table("quotes", "team", "line", "cite", "said", "file", "file_hash")
tombstones = _table("tombstones", "team", "line", times=("forgotten_at",))
hidden = _table("hidden", "team", "line", "role")
jobs = _table(
    "jobs",
    *("kind", "key", "team", "owner", "host", "status", "token", "holder", "error"),
    *("input", "done"),
    times=("lease_until", "retry_at"),
    numbers=("attempts",),
)
revisions = _table(
    "revisions", "team", "author", "input", times=("made_at",), numbers=("number", "parent")
)
revision_lines = _table("revision_lines", "team", "file", "line", numbers=("number", "place"))
