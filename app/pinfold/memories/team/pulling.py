"""Pulls a team's lines into this machine's copy; each is redacted and checked again."""

import time
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, delete, extract, func, select, text
from sqlalchemy.dialects.postgresql import insert

from pinfold.memories.records import StateError
from pinfold.memories.source import safely
from pinfold.memories.statements import parse
from pinfold.memories.team.copy import TeamCopy
from pinfold.memories.team.proving import MOST_QUOTE, MOST_TEXT, doubt
from pinfold.memories.team.server import TeamDatabase
from pinfold.memories.team.tables import (
    hidden,
    lines,
    quotes,
    revision_lines,
    revisions,
    tombstones,
)
from pinfold.memories.team.values import Picked, TeamLine, TeamQuote, digest
from pinfold.sanitize import one_line, safe

SECONDS = 2.0
"""Longest pull in the background."""
MOST_LINES = 5_000
MOST_ROW = 10_000
"""Characters of a line's row, or of a quote's."""
MOST_QUOTES = 100
"""Quotes of one line."""
_SLICE = 50
"""Lines to check between two looks at the clock."""


def bury(server: TeamDatabase, copies: Iterable[TeamCopy]) -> None:
    """Remove forgotten lines from the copies. Raises `StateError`, `OSError`."""
    with server.transaction() as conn:
        found = [(copy, *_forgotten_lines(conn, copy)) for copy in copies]
    for copy, buried, ours in found:
        copy.bury(buried, ours)


def _forgotten_lines(conn: Connection, copy: TeamCopy) -> tuple[frozenset[str], frozenset[str]]:
    """The lines forgotten for everybody, and for us; sends ours that the database lacks."""
    team = copy.team.name
    known = copy.read()
    if unsent := known.hidden:
        there = select(lines.c.team, lines.c.id).where(lines.c.team == team, lines.c.id.in_(unsent))
        hide = insert(hidden).from_select(["team", "line"], there).on_conflict_do_nothing()
        conn.execute(hide)
    buried = conn.scalars(select(tombstones.c.line).where(tombstones.c.team == team))
    ours = conn.scalars(select(hidden.c.line).where(hidden.c.team == team))
    return frozenset(buried), frozenset(ours) | known.hidden


def pull(
    server: TeamDatabase,
    copy: TeamCopy,
    now: Callable[[], float],
    seconds: float = SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Bring a copy up to date. Returns how many lines it has.

    Lines that can't be checked in time wait for the next pull. Raises `StateError`, `OSError`,
    `MemoriesRefused`.
    """
    until = clock() + seconds
    team = copy.team.name
    with server.transaction() as conn:
        buried, ours = _forgotten_lines(conn, copy)
        owns = bool(conn.scalar(text("SELECT pinfold.is_owner(:team)"), {"team": team}))
        number = conn.scalar(select(func.max(revisions.c.number)).where(revisions.c.team == team))
        order = (revision_lines.c.file.desc(), revision_lines.c.place)  # the summary first
        placed = [
            Picked(row.file, row.line)
            for row in conn.execute(
                select(revision_lines)
                .where(revision_lines.c.team == team, revision_lines.c.number == number)
                .order_by(*order)
                .limit(2 * MOST_LINES)
            )
        ]
        found = read_lines(conn, team)
    first = {place.line: at for at, place in reversed(list(enumerate(placed)))}
    found.sort(key=lambda line: (first.get(line.id, len(first)), -line.since))
    was = copy.read()
    known = {line.id: line for line in was.lines}
    kept: list[TeamLine] = []
    sources: dict[str, str] = {}
    for at, line in enumerate(found):
        if at % _SLICE == 0 and clock() > until:
            break
        source = _source(line)
        if was.sources.get(line.id) == source:
            checked = (
                replace(known[line.id], stale=_shortened(line.stale)) if line.id in known else None
            )
        else:
            checked = check(line)
        sources[line.id] = source
        if checked is not None:
            kept.append(checked)
    if clock() > until and not kept:
        raise StateError(
            f"The team's database {server.shown} is too slow: it took over {seconds:g} s."
        )
    with copy.locked():
        there = {line.id for line in kept}
        copy.write(
            replace(
                was,
                role=server.role,
                owns=owns,
                revision=number or 0,
                pulled_at=now(),
                lines=tuple(kept),
                placed=tuple(
                    sorted(
                        (place for place in placed if place.line in there),
                        key=lambda place: place.file,
                    )
                ),
                tombstones=buried,
                hidden=ours | copy.read().hidden,
                sources=sources,
                left_out=len(sources) - len(kept),
            )
        )
    return len(kept)


def pull_all(
    server: TeamDatabase, copies: Iterable[TeamCopy], now: Callable[[], float], seconds: float
) -> int:
    """Bring all copies up to date in `seconds`. Returns how many lines they have."""
    until = time.monotonic() + seconds
    return sum(pull(server, copy, now, until - time.monotonic()) for copy in copies)


def forget(server: TeamDatabase, team: str, line: str) -> None:
    """Delete a line for everybody, as its owner or the team's. Raises `StateError`."""
    with server.transaction() as conn:
        conn.execute(delete(lines).where(lines.c.team == team, lines.c.id == line))


def read_lines(conn: Connection, team: str) -> list[TeamLine]:
    """The lines of a team, unchecked. Rows larger than any shared line are not fetched: a member
    may write anything."""
    said: dict[str, list[TeamQuote]] = {}
    place = func.row_number().over(partition_by=quotes.c.line, order_by=quotes.c.cite)
    size = func.length(func.concat(quotes.c.cite, quotes.c.said, quotes.c.file, quotes.c.file_hash))
    few = select(quotes, place.label("place")).where(quotes.c.team == team, size < MOST_ROW)
    found = few.subquery()
    for row in conn.execute(
        select(found).where(found.c.place <= MOST_QUOTES).order_by(found.c.line, found.c.cite)
    ):
        said.setdefault(row.line, []).append(TeamQuote(row.cite, row.said, row.file, row.file_hash))
    told = func.concat(lines.c.session, lines.c.folder, lines.c.said, lines.c.stale)
    rows = conn.execute(
        select(lines, extract("epoch", lines.c.since).label("at"))
        .where(lines.c.team == team, func.length(told) < MOST_ROW)
        .order_by(lines.c.since.desc())
        .limit(MOST_LINES)
    )
    return [_line(row, said.get(row.id, [])) for row in rows]


def _line(row: Any, said: list[TeamQuote]) -> TeamLine:
    return TeamLine(
        row.id,
        row.session,
        row.folder,
        row.said,
        tuple(said),
        owner=row.owner,
        since=float(row.at),
        stale=row.stale,
    )


def _source(line: TeamLine) -> str:
    said = (f"{quote.cite}\n{quote.text}\n{quote.file}\n{quote.file_hash}" for quote in line.quotes)
    return digest(line.owner, line.session, line.folder, line.text, *said)


def check(line: TeamLine) -> TeamLine | None:
    """A line after redaction; None if it must not be used."""
    statement = parse(safely(one_line(line.text)))
    if statement is None or len(statement.text) > MOST_TEXT:
        return None
    if any(cite.session != line.session for cite in statement.cites):
        return None
    if not all(map(_is_below, (line.folder or ".", statement.file or "."))):
        return None
    said = tuple(
        replace(
            quote,
            cite=one_line(quote.cite)[:200],
            text=safely(safe(quote.text))[:MOST_QUOTE],
            file=one_line(quote.file),
        )
        for quote in line.quotes
    )
    if not said or doubt(statement, said):
        return None
    return replace(line, text=str(statement), quotes=said, stale=_shortened(line.stale))


def _shortened(text: str) -> str:
    return one_line(text)[:200]


def _is_below(path: str) -> bool:
    found = PurePosixPath(path)
    return not found.is_absolute() and ".." not in found.parts and path.isprintable()
