"""Which files a search looks at: all but those that git would ignore, and the usual clutter.

Git itself is not asked: a repository's configuration, or a folder that only looks like one, can
make it run a program.
"""

import asyncio
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold import small_files
from pinfold.paths import repository_root
from pinfold.tools.workspace import scanned

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

CLUTTER = {".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"}
MAX_FILES = 200_000
MAX_DEPTH = 64
"""Folders below the one that is listed."""
MAX_SECONDS = 30.0
"""What would be found later is left out."""
MAX_RULES = 100_000
"""Bytes. Longer files of rules are not read."""
_ENDLESS = re.compile(r"(?:\*[^/*]+){4}|(?:\*\*.*){4}")
"""Rules whose matching by trial could take for ever."""

Rules = tuple[tuple[str, "GitIgnoreSpec"], ...]
"""Folders as prefixes of paths, `src/`, and the rules in them; the outermost first."""


async def files(folder: Path) -> list[str]:
    """The files under a folder, as sorted posix paths relative to it; symlinks not followed."""
    return await asyncio.to_thread(walk, folder)


def walk(folder: Path) -> list[str]:
    """Blocking version of `files`."""
    root = repository_root(folder) or folder
    base = "" if root == folder else f"{folder.relative_to(root).as_posix()}/"
    rules = _rules_above(root, base)
    found: list[str] = []
    waiting = [(base, rules)]
    deepest = base.count("/") + MAX_DEPTH
    end = time.monotonic() + MAX_SECONDS
    while waiting and len(found) < MAX_FILES and time.monotonic() < end:
        prefix, rules = waiting.pop()
        rules = _with_rules(rules, prefix, root / prefix / ".gitignore")
        for entry in scanned(root / prefix):
            if entry.name in CLUTTER:
                continue
            path = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if path.count("/") < deepest and not _ignored(f"{path}/", rules):
                    waiting.append((f"{path}/", rules))
            elif not _ignored(path, rules) and (
                entry.is_symlink() or entry.is_file(follow_symlinks=False)
            ):
                found.append(path.removeprefix(base))
    return sorted(found[:MAX_FILES])


def _rules_above(root: Path, base: str) -> Rules:
    """The rules that apply in `base`; none if they ignore it, because it was asked for by name."""
    user = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "git" / "ignore"
    rules = _with_rules((), "", user)
    rules = _with_rules(rules, "", root / ".git" / "info" / "exclude")
    prefix = ""
    for name in base.split("/")[:-1]:
        rules = _with_rules(rules, prefix, root / prefix / ".gitignore")
        prefix += f"{name}/"
        if _ignored(prefix, rules):
            return ()
    return rules


def _with_rules(rules: Rules, prefix: str, path: Path) -> Rules:
    from pathspec import GitIgnoreSpec

    lines = [line for line in _read(path).splitlines() if not _ENDLESS.search(line)]
    if not lines:
        return rules
    try:
        return *rules, (prefix, GitIgnoreSpec.from_lines(lines))
    except ValueError:  # a line that is no pattern
        return rules


def _read(path: Path) -> str:
    try:
        return small_files.read(path, MAX_RULES).decode(errors="replace")
    except OSError:
        return ""


def _ignored(path: str, rules: Rules) -> bool:
    for prefix, spec in reversed(rules):
        verdict = spec.check_file(path.removeprefix(prefix)).include
        if verdict is not None:
            return verdict
    return False
