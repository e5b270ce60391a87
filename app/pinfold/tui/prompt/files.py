"""The files that `@` completes: those that git knows or would add, else all that are there."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

LIMIT = 50_000
SKIPPED = {".git", ".hg", ".venv", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache"}


def list_files(folder: Path) -> list[str]:
    """Paths relative to `folder`, at most `LIMIT`. Blocking."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"],
            cwd=folder,
            capture_output=True,
            timeout=10,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return _walk(folder)
    return [os.fsdecode(name) for name in listed.split(b"\0") if name][:LIMIT]


def _walk(folder: Path) -> list[str]:
    found: list[str] = []
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        base = os.path.relpath(root, folder)
        found += (name if base == "." else f"{base}/{name}" for name in sorted(names))
        if len(found) >= LIMIT:
            break
    return found[:LIMIT]


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
