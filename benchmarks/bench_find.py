"""Many sessions: the list, and searching all of them.

`BENCH_HOME` names a home of made-up sessions (`python -m benchmarks.made_up HOME 100000`) that was
indexed before (`PINFOLD_HOME=HOME pinfold find x`); without it 10,000 are made.
"""

import os
import random
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

from benchmarks import made_up
from benchmarks.figures import Figure
from pinfold.catalog.catalog import Catalog
from pinfold.catalog.searching import COMMON
from pinfold.catalog.sqlite import sqlite3

SESSIONS, QUERIES = 10_000, 200
PAGE = 30


def run() -> Iterator[Figure]:
    if given := os.environ.get("BENCH_HOME"):
        yield from _measured(Path(given))
        return
    with TemporaryDirectory() as temporary:
        home = Path(temporary)
        for _ in made_up.write(home, SESSIONS):
            pass
        began = time.perf_counter()
        for _ in Catalog(home, home / "cache/catalog.db").fill():
            pass
        yield Figure(f"index {SESSIONS:,} sessions", time.perf_counter() - began, "s")
        yield from _measured(home)


def _measured(home: Path) -> Iterator[Figure]:
    file = home / "cache/catalog.db"
    catalog = Catalog(home, file)
    catalog.check()
    count = f"{catalog.count():,} sessions"
    with TemporaryDirectory() as nowhere:
        bare = Catalog(home, Path(nowhere) / "catalog.db")
        yield Figure(f"first page of {count}, no index", _seconds(bare), "s", target=2.0)
    yield Figure(f"first page of {count}", _seconds(catalog), "s", target=0.5)
    yield Figure("memory after that", _peak(), "MB", target=100)
    yield Figure(f"comparing the index with {count}", _timed(catalog.check), "s")
    queries = _queries(file)
    took = [_timed(lambda query=query: _search(catalog, query)) for query in queries]  # type: ignore[misc]
    yield Figure(f"a search of {count}, median of {QUERIES}", quantiles(took, n=20)[9], "s")
    p95 = quantiles(took, n=20)[18]
    yield Figure(f"a search of {count}, p95 of {QUERIES}", p95, "s", target=0.3)
    oldest = Path(catalog.list(PAGE)[-1].folder)
    yield Figure(
        f"taking a session out of the index of {count}, SQLite {sqlite3.sqlite_version}",
        _timed(lambda: catalog.forget(oldest)),
        "s",
    )
    yield Figure("size of the index", file.stat().st_size / 1e6, "MB")


def _queries(file: Path) -> list[str]:
    """Words of all sorts, half of the queries with common ones."""
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, texts, row)")
        rows = database.execute("SELECT term, doc FROM terms ORDER BY doc DESC LIMIT 3000")
        terms = dict(rows.fetchall())
    pick = random.Random(1).choice
    every = list(terms)
    common = [term for term, count in terms.items() if count > COMMON] or every[:100]
    return [
        query
        for _ in range(QUERIES // 5)
        for query in (
            pick(common),
            f"{pick(common)} {pick(common)}",
            f"{pick(common)} {pick(every)}",
            pick(every),
            pick(every)[:4],
        )
    ]


def _search(catalog: Catalog, query: str) -> None:
    catalog.search(query, 20, datetime.now(UTC))


def _seconds(catalog: Catalog) -> float:
    return _timed(lambda: catalog.list(PAGE))


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
