"""Brings the changes of one folder into another: all or none."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pinfold.ports.tool import Observation, ToolError
from pinfold.sanitize import one_line
from pinfold.tools import workspace

NONE, LINK, MODULE = "000000", "120000", "160000"
"""Git's modes of no file, a symlink, a submodule."""
NAMED = 8
"""Files that a refusal names."""


class Entry(NamedTuple):
    """A file's modes and hashes, before and after."""

    before: str
    after: str
    old: str
    new: str


@dataclass(slots=True)
class TakeOver:
    source: Path
    target: Path
    """Where the changes go."""
    workspace: Path
    """Names in the journal are relative to it."""
    changed: Mapping[str, Entry]
    """What changed in `source` since the start, by name."""
    moved: Mapping[str, Entry]
    """The same in `target`."""
    save: Callable[[Path], str]
    """Keeps the bytes of a file; returns their hash."""
    _undo: list[Callable[[], object]] = field(default_factory=list)
    """Undo steps, in the order of the changes."""

    def run(self) -> list[Observation]:
        """Blocking. Raises `ToolError`; then nothing was changed."""
        wanted = {
            name: entry
            for name, entry in self.changed.items()
            if name not in self.moved
            or self.moved[name].after != entry.after
            or self.moved[name].new != entry.new
        }
        if strange := [name for name in wanted if not _is_text(name)]:
            name = one_line(ascii(strange[0]))
            raise ToolError(f"Nothing was brought over: the name {name} is not valid UTF-8.")
        if blocked := [name for name, entry in wanted.items() if self._blocked(name, entry)]:
            more = len(blocked) - NAMED
            names = ", ".join(map(one_line, blocked[:NAMED])) + (
                f" and {more} more" if more > 0 else ""
            )
            raise ToolError(
                f"Nothing was brought over: {names} also changed in your folder since the race "
                "began. Bring yours back to how it was, or merge by hand."
            )
        done: list[Observation] = []
        try:
            # Removals first: they make room for new files.
            for name, entry in sorted(wanted.items(), key=lambda one: one[1].after != NONE):
                done.append(self._take(name, entry))
        except (OSError, ToolError) as error:
            for undo in reversed(self._undo):
                undo()
            raise ToolError(f"Nothing was brought over: {error}") from error
        return done

    def _blocked(self, name: str, entry: Entry) -> bool:
        """Whether something in the target is in its way."""
        if name in self.moved or MODULE in (entry.before, entry.after):
            return True
        path = self.target / name
        for parent in path.relative_to(self.target).parents:
            there = self.target / parent
            if (there.is_symlink() or there.is_file()) and not self._goes(str(parent)):
                return True
        if entry.after == NONE:
            return False
        if path.is_dir() and not path.is_symlink():
            inside = (
                found for found in path.rglob("*") if found.is_symlink() or not found.is_dir()
            )
            return any(not self._goes(str(one.relative_to(self.target))) for one in inside)
        return entry.before == NONE and workspace.exists(path)

    def _goes(self, name: str) -> bool:
        entry = self.changed.get(name)
        return entry is not None and entry.after == NONE

    def _take(self, name: str, entry: Entry) -> Observation:
        path, source = self.target / name, self.source / name
        uri = workspace.uri(path, self.workspace)
        backup = self._put_aside(path)
        if entry.after == NONE:
            path.unlink()
            self._remove_empty(path.parent)
            return Observation(uri, "file", "delete", None, backup)
        op = "create" if entry.before == NONE else "update"
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        self._undo.append(lambda: path.unlink(missing_ok=True))
        if entry.after == LINK:
            path.unlink(missing_ok=True)
            path.symlink_to(source.readlink())
            return Observation(uri, "file", "create" if op == "create" else "update")
        data = source.read_bytes()
        if path.is_symlink():
            path.unlink()
        workspace.write(path, data, stat.S_IMODE(source.stat().st_mode))
        hashed = workspace.blob_hash(data)
        return Observation(uri, "file", "create" if op == "create" else "update", hashed, backup)

    def _put_aside(self, path: Path) -> str | None:
        """Remember what is there, for undo."""
        if path.is_symlink():
            link = path.readlink()
            self._undo.append(lambda: _link(path, link))
            return None
        if not path.is_file():
            return None
        data, mode = path.read_bytes(), stat.S_IMODE(path.stat().st_mode)
        self._undo.append(lambda: workspace.write(path, data, mode))
        return self.save(path)

    def _remove_empty(self, folder: Path) -> None:
        while folder != self.target:
            try:
                os.rmdir(folder)  # noqa: PTH106
            except OSError:
                return
            folder = folder.parent


def _link(path: Path, to: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(to)


def _is_text(name: str) -> bool:
    """Whether the journal can name it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
