"""Guarded places in folders that a command may write: found, protected, compared afterwards."""

import os
import shutil
import stat
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from pinfold.small_files import read_text
from pinfold.tools import guard
from pinfold.tools.workspace import scanned, uri

UNSEARCHED = frozenset({"node_modules", ".venv", "__pycache__", ".svn"})
"""Folders that only their own tools read."""
MAX_FOLDERS = 50_000
MAX_POINTER = 4_096
"""Bytes of a file in which git names a folder."""
_LARGE = ("modules", "worktrees")
"""Of these, too large to copy: whole repositories."""
_IN_GIT = ("config", "config.worktree", "hooks", "commondir", "modules", "worktrees")
"""What names programs in a git folder, or leads to another one that does."""


Identity = tuple[int, int]
"""The inode, and for a link, whose number may be used again, when it was made."""


@dataclass(slots=True)
class GuardedPlaces:
    """The guarded places by path, with the identity of each."""

    kept: dict[Path, Identity] = field(default_factory=dict)
    """Nothing may change there."""
    stays: dict[Path, Identity] = field(default_factory=dict)
    """What may change inside, but not be moved: git folders."""
    whole: bool = True
    """Whether all folders were looked through."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """A guarded place that a command has made."""

    path: Path
    now: Path
    """Where it is now; `path` if it could not be moved."""
    why: str


def moved(place: SetAside, workspace: Path) -> str:
    """The note for the model."""
    name = uri(place.path, workspace)
    if place.now == place.path:
        return f"[{name} should not stay: {place.why}. It could not be moved away.]"
    return f"[{name} was set aside: {place.why}. Only the user may bring it back: {place.now}]"


def look(roots: Iterable[Path]) -> GuardedPlaces:
    """The guarded places below the roots. Blocking."""
    found = GuardedPlaces()
    for root in roots:
        _look(root, found)
        if own := worktree(root):
            _add_git(own[0], found)
            for name in ("commondir", "gitdir", "config.worktree"):
                _add(own[1] / name, found.kept)
    return found


def _look(root: Path, found: GuardedPlaces) -> None:
    waiting, looked = [str(root)], 0
    while waiting:
        folder = waiting.pop()
        looked += 1
        if looked > MAX_FOLDERS:
            found.whole = False
            return
        inner, marks = [], 0
        for entry in scanned(folder):
            name = entry.name
            if name in guard.BARE:
                marks += 1
            if name.casefold() in guard.NAMES and guard.place(folder.rpartition(os.sep)[2], name):
                path = Path(entry.path)
                if name == ".git" and entry.is_dir(follow_symlinks=False):
                    _add_git(path, found)
                else:
                    _add(path, found.kept)
            elif name not in UNSEARCHED and entry.is_dir(follow_symlinks=False):
                inner.append(entry.path)
        if marks == len(guard.BARE):
            _add_git(Path(folder), found)
        else:
            waiting += inner


def _add(path: Path, to: dict[Path, Identity]) -> None:
    try:
        found = path.lstat()
    except OSError:
        return
    to[path] = (found.st_ino, found.st_ctime_ns if stat.S_ISLNK(found.st_mode) else 0)


def _add_git(folder: Path, found: GuardedPlaces) -> None:
    _add(folder, found.stays)
    for name in _IN_GIT:
        _add(folder / name, found.kept)


def worktree(root: Path) -> tuple[Path, Path] | None:
    """The common git folder of a worktree and the worktree's own; None of anything else.

    The own one must lead back, or a file named `.git` could open any repository.
    """
    try:
        pointer = root / ".git"
        if not pointer.is_file():
            return None
        own = (root / _line(pointer).removeprefix("gitdir:").strip()).resolve(strict=True)
        back = Path(_line(own / "gitdir")).resolve()
        common = (own / _line(own / "commondir")).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return None
    leads_back = back == pointer.resolve() and own.parent == common / "worktrees"
    return (common, own) if leads_back else None


def _line(path: Path) -> str:
    return read_text(path, MAX_POINTER).strip()


def set_aside(
    before: GuardedPlaces, roots: Iterable[Path], to: Path, back: Collection[Path] = ()
) -> list[SetAside]:
    """Move away guarded places that are new and were not restored. Blocking."""
    known = {*before.kept.values(), *before.stays.values()}
    now = look(roots)
    new = [
        path
        for path, place in (now.stays | now.kept).items()
        if place not in known and path not in back
    ]
    moved: list[SetAside] = []
    for path in sorted(new):
        if any(path.is_relative_to(aside.path) for aside in moved):
            continue
        # Of a folder that only looks like a repository, what makes it one.
        away = path / "HEAD" if path in now.stays and path.name != ".git" else path
        why = guard.place(path.parent.name, path.name) or guard.GIT
        moved.append(SetAside(path, _move(away, to), why))
    return moved


def remember(places: GuardedPlaces, to: Path) -> dict[Path, Path]:
    """Copy what must not change, where a sandbox can't protect it. Blocking. Raises `OSError`."""
    copies: dict[Path, Path] = {}
    shutil.rmtree(to, ignore_errors=True)
    for path in places.kept:
        if path.name in _LARGE or path.is_symlink():
            continue
        target = to / str(len(copies))
        to.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, target, symlinks=True)
        else:
            shutil.copy2(path, target)
        copies[path] = target
    return copies


def put_back(
    before: GuardedPlaces, copies: dict[Path, Path], roots: Iterable[Path], to: Path
) -> list[SetAside]:
    """Restore git folders, and what has changed from its copies. Blocking."""
    changed = _brought_back(before, look(roots), to)
    for path, copy in sorted(copies.items()):
        if _content(path) == _content(copy):
            continue
        now = _move(path, to) if os.path.lexists(path) else path
        if not os.path.lexists(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(copy, path)
        why = guard.place(path.parent.name, path.name) or guard.GIT
        changed.append(SetAside(path, now, f"{why}; the old content is restored"))
    return changed


def _brought_back(before: GuardedPlaces, now: GuardedPlaces, to: Path) -> list[SetAside]:
    moved = []
    whereabouts = {place: path for path, place in now.stays.items()}
    for path, place in before.stays.items():
        if now.stays.get(path) == place:
            continue
        if os.path.lexists(path):
            moved.append(SetAside(path, _move(path, to), guard.GIT))
        if place in whereabouts and not os.path.lexists(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            whereabouts[place].rename(path)
    return moved


def _content(path: Path) -> list[tuple[str, str | bytes]]:
    """A file, or all files of a folder, by their names in it."""
    found: list[tuple[str, str | bytes]] = []
    for inner in (path, *path.rglob("*")):
        name = inner.relative_to(path).as_posix()
        if inner.is_symlink():
            found.append((name, str(inner.readlink())))
        elif inner.is_file():
            found.append((name, inner.read_bytes()))
    return sorted(found)


def _move(path: Path, to: Path) -> Path:
    """Move it to the folder, or beside itself; its new path, or `path` if both fail."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    for folder, name in ((to, path.name), (path.parent, f"{path.name}.set-aside")):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            number = next(n for n in count(1) if not os.path.lexists(folder / f"{name}.{n}"))
            return path.rename(folder / f"{name}.{number}")
        except OSError:
            continue
    return path
