"""A full-text index over items: SQLite's FTS5, as long as the session, ranked by BM25."""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from pinfold.ports.tool import ToolError
from pinfold.rollout.arguments import parsed
from pinfold.rollout.items import Item
from pinfold.sanitize import encodable

if TYPE_CHECKING:
    import sqlite3

# Possessive throughout, and begun at a word's start only: linear on any text.
_JOINED = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]*+[a-z0-9]++(?:[A-Z]++[a-z0-9]*+)++"  # camelCase, HTTPServer
    r"|(?<![A-Za-z0-9])[A-Z]{2,}+[a-z][a-z0-9]*+"
    r"|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]++"  # scripts without spaces
)
_SEAM = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[\u3040-\u9fff\uac00-\ud7af])"
)
_LONGEST = 64
"""Characters; a longer camelCase word is base64 or the like."""
_WORD = re.compile(r'[^\s"\0]+')
_NO_FTS5 = (
    "Searching needs SQLite with FTS5, which this Python lacks. Items can still be recalled by id."
)


class ArchiveIndex:
    """Items by their words. Blocking: use it in a thread; any thread will do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._known: set[int] = set()

    def search(self, query: str, numbers: Sequence[int], read: Callable[[int], str]) -> list[int]:
        """Those of the `numbers` whose text has any word of `query`, the best first.

        Texts are read and indexed the first time that they are searched. Raises `ToolError`.
        """
        with self._lock:
            if self._db is None:
                # No name: in memory at first; what grows goes to a file that no other can open.
                self._db = _create("")
            try:
                return self._search(self._db, query, set(numbers), read)
            except self._db.OperationalError:  # a full disk, or none that can be written to
                self._db.close()
                self._db, self._known = _create(":memory:"), set()
                return self._search(self._db, query, set(numbers), read)

    def _search(
        self, db: "sqlite3.Connection", query: str, asked: set[int], read: Callable[[int], str]
    ) -> list[int]:
        new = sorted(asked - self._known)
        with db:
            rows = (_row(n, read(n)) for n in new)
            db.executemany("INSERT INTO items(rowid, text, parts) VALUES (?, ?, ?)", rows)
        self._known.update(new)
        if not (match := _match(query)):
            return []
        sql = "SELECT rowid FROM items WHERE items MATCH ? ORDER BY rank"
        with closing(db.execute(sql, (match,))) as found:
            return [n for (n,) in found if n in asked]


def text_of(item: Item) -> str:
    """What is searched in an item: its text, or the values of a call's arguments."""
    if item.kind != "tool_call":
        return item.content
    given = parsed(item.content)
    return item.content if given is None else "\n".join(_strings(given))


def _strings(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for inner in value.values():
                yield from _strings(inner)
        case list():
            for inner in value:
                yield from _strings(inner)
        case _:
            yield str(value)


def _create(name: str) -> "sqlite3.Connection":
    try:
        import sqlite3
    except ImportError as error:
        raise ToolError(_NO_FTS5) from error
    db = sqlite3.connect(name, check_same_thread=False)
    try:
        # The texts are in the items already; the index alone is kept.
        db.execute(
            "CREATE VIRTUAL TABLE items USING fts5(text, parts, content='', "
            "tokenize='porter unicode61 remove_diacritics 2')"
        )
    except sqlite3.OperationalError as error:
        db.close()
        raise ToolError(_NO_FTS5) from error
    return db


def _row(n: int, text: str) -> tuple[int, str, str]:
    # SQLite takes no lone surrogates, which the arguments of a call may spell.
    text = encodable(text)
    return n, text, _parts(text)


def _parts(text: str) -> str:
    """The words of `text` that are found by their parts too, taken apart."""
    # Most words are told at a glance to have none; the pattern alone takes three times as long.
    maybe = (
        word for word in dict.fromkeys(text.split()) if not (word.isascii() and word.islower())
    )
    joined = (found[0] for found in _JOINED.finditer("\n".join(maybe)))
    return "\n".join(
        " ".join(_SEAM.split(word))
        for word in joined
        if len(word) <= _LONGEST or not word.isascii()
    )


def _match(query: str) -> str:
    """`query` as an FTS5 expression: each word a quoted string, taken apart or not."""
    words = _WORD.findall(encodable(query))
    found = dict.fromkeys([*words, *filter(None, map(_parts, words))])
    return " OR ".join(f'"{word}"' for word in found)
