"""The files that `@` completes."""

from collections.abc import Sequence
from pathlib import Path

LIMIT = 50_000


def list_files(folder: Path) -> list[str]:
    """Paths relative to `folder`, at most `LIMIT`. Blocking."""
    from pinfold.tools import listing  # no first paint needs it

    return listing.walk(folder)[:LIMIT]


def best(query: str, files: Sequence[str], count: int) -> list[str]:
    """The `count` files that fit `query` best. Blocking."""
    if not query:
        return sorted(files, key=lambda path: (path.count("/"), path))[:count]
    from textual.fuzzy import FuzzySearch

    letters = query.lower()
    search = FuzzySearch(cache_size=1)
    scored: list[tuple[float, int, str]] = []
    for path in files:
        if not _has(path.lower(), letters):
            continue
        name = path.rpartition("/")[2]
        score = max(search.match(query, path)[0], 1.5 * search.match(query, name)[0])
        scored.append((-score, len(path), path))
    return [path for *_, path in sorted(scored)[:count]]


def _has(text: str, letters: str) -> bool:
    position = 0
    for letter in letters:
        position = text.find(letter, position) + 1
        if not position:
            return False
    return True
