"""Searching the index: which items contain the words of a query, best first.

A word that is in more than `COMMON` items says little: it is searched in the newest of them, and
the other words decide the order.
"""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from pinfold.catalog import words
from pinfold.catalog.filling import time_of
from pinfold.catalog.sqlite import sqlite3

COMMON = 50_000
"""Items that contain a word, above which it is common."""
MATCH, MATCH_END = "\x02", "\x03"
"""Markers around each match in a snippet."""
_MONTH_MS = 30 * 86_400_000.0
_OVER = 4
"""Candidates fetched per hit shown: weights change their order, and copies are dropped."""
_WEIGHT = {"user": 1.5, "assistant": 1.2}
"""Weights of matches in messages; those in calls and outputs have 1."""
_KEPT = 0.99
"""Weight of the vault, so that an adopted session comes before its copy there."""
_PIECE = 24
"""Words of a snippet."""


class SearchHit(Struct, frozen=True, kw_only=True):
    """An item that contains the words."""

    kind: str
    """`session`, or `vault`."""
    session: str
    """Id of the session."""
    path: str
    """The session's folder, or its file in the vault."""
    agent: int
    """Number of the agent; 0 for the session itself."""
    n: int
    item: str
    """The item's kind."""
    at: datetime
    cwd: str
    title: str
    piece: str
    """The text around the match, with `MATCH` and `MATCH_END` in it."""

    @property
    def number(self) -> str:
        """`#12`, or `a3#12`."""
        return f"a{self.agent}#{self.n}" if self.agent else f"#{self.n}"


class Query(Struct, frozen=True):
    """The words that a user typed, rare and common ones."""

    rare: tuple[str, ...]
    common: tuple[str, ...]
    since: int
    """The first id of the items that are searched for common words."""

    @property
    def match(self) -> str:
        return " ".join((*self.rare, *self.common))


def query(connection: sqlite3.Connection, typed: str) -> Query | None:
    """The query; None if it has no word."""
    terms = words.terms(typed)
    if not terms:
        return None
    rare: list[str] = []
    common: list[str] = []
    since = 0
    for place, term in enumerate(terms, 1):
        begins = place == len(terms) and words.may_begin(typed)
        oldest = _oldest_of_newest(connection, term)
        if oldest is None:
            beginning = f"{term}*"
            few = begins and _oldest_of_newest(connection, beginning) is None
            rare.append(beginning if few else term)
        else:
            common.append(term)
            since = max(since, oldest)
    return Query(tuple(rare), tuple(common), since)


def _oldest_of_newest(connection: sqlite3.Connection, term: str) -> int | None:
    """The oldest of the newest `COMMON` items with a word; None if it is not common."""
    row = connection.execute(
        "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET ?",
        (term, COMMON),
    ).fetchone()
    return None if row is None else int(row[0]) + 1


def candidates(
    connection: sqlite3.Connection, asked: Query, now: datetime, limit: int
) -> Sequence[tuple[int, float]]:
    """The ids of items that contain the words, best first, each with its score."""
    most = limit * _OVER
    if not asked.rare:
        rows = connection.execute(
            "SELECT rowid, 0.0 FROM texts WHERE texts MATCH ? AND rowid >= ? "
            "ORDER BY rowid DESC LIMIT ?",
            (asked.match, asked.since, most),
        )
        return [(number, 1 / (1 + place)) for place, (number, _) in enumerate(rows)]
    # bm25 counts each phrase in the whole index, so the common ones are left out of it.
    fits = "bm25(texts) * (0.4 + 0.6 / (1 + max(0, :now - (texts.rowid >> 20)) / :month))"
    sql = f"SELECT rowid, {fits} AS fit FROM texts WHERE texts MATCH :rare"  # noqa: S608
    if asked.common:
        sql += (
            " AND texts.rowid >= :since AND +texts.rowid IN "  # the plus: one search, not one each
            "(SELECT rowid FROM texts WHERE texts MATCH :all AND rowid >= :since)"
        )
    rows = connection.execute(
        f"{sql} ORDER BY fit LIMIT :most",
        {
            "now": now.timestamp() * 1_000,
            "month": _MONTH_MS,
            "rare": " ".join(asked.rare),
            "all": asked.match,
            "since": asked.since,
            "most": most,
        },
    )
    return [(number, -fit) for number, fit in rows]


_ITEM = """
SELECT items.n, items.kind, sources.kind, sources.session, sources.agent, sources.path, owner.cwd,
    json_extract(owner.said, '$.title'), owner.path, owner.kind
FROM items JOIN sources ON sources.id = items.source
JOIN sources AS owner ON owner.path = CASE sources.kind WHEN 'agent'
    THEN substr(sources.path, 1, instr(sources.path, '/agents/') - 1) ELSE sources.path END
WHERE items.id = ?
"""


def hits(
    connection: sqlite3.Connection, found: Sequence[tuple[int, float]]
) -> list[tuple[int, SearchHit]]:
    """The candidates as hits without snippets, best first; copies are left out."""
    scored: list[tuple[float, int, SearchHit]] = []
    seen: set[tuple[int, str, str, int, datetime]] = set()
    for number, fit in found:
        row = connection.execute(_ITEM, (number,)).fetchone()
        if row is None:
            continue
        n, item, _, session, agent, _, cwd, title, path, kind = row
        at = time_of(number)
        hit = SearchHit(
            kind=kind,
            session=session,
            path=path,
            agent=agent,
            n=n,
            item=item,
            at=at,
            cwd=cwd,
            title=title or "",
            piece="",
        )
        weight = _WEIGHT.get(item, 1.0) * (_KEPT if kind == "vault" else 1.0)
        scored.append((-fit * weight, number, hit))
    scored.sort(key=lambda row: row[0])
    kept = []
    for _, number, hit in scored:
        # From the vault, an agent's file is adopted as a session.
        agent = 0 if hit.kind == "vault" else hit.agent
        same = (agent, hit.item, hit.title, hit.n, hit.at)
        if same not in seen:
            seen.add(same)
            kept.append((number, hit))
    return kept


def piece(connection: sqlite3.Connection, asked: Query, number: int) -> str:
    """A snippet of an item around the match."""
    row = connection.execute(
        "SELECT snippet(texts, 0, ?, ?, '…', ?) FROM texts WHERE texts MATCH ? AND rowid = ?",
        (MATCH, MATCH_END, _PIECE, asked.match, number),
    ).fetchone()
    return words.shown(row[0]) if row else ""
