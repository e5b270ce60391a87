"""The sessions on disk, newest day first: paths, sizes and times; no file is opened."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from pinfold.rollout.journal import ROLLOUT


class SessionPlace(Struct, frozen=True):
    """A rollout on the disk."""

    path: str
    """Of its folder, below the root."""
    size: int
    mtime_ns: int


def days(root: Path) -> Iterator[tuple[str, list[SessionPlace]]]:
    """The folder of each day and its sessions, newest first."""
    for year in _names(root / "sessions"):
        for month in _names(root / "sessions" / year):
            for day in _names(root / "sessions" / year / month):
                folder = f"sessions/{year}/{month}/{day}"
                yield (
                    folder,
                    [
                        place
                        for name in _names(root / folder)
                        for place in _place(root, f"{folder}/{name}")
                    ],
                )


def places(root: Path) -> Iterator[SessionPlace]:
    """All sessions."""
    for _, found in days(root):
        yield from found


def agents(root: Path, session: str) -> Iterator[SessionPlace]:
    """Those that a session started, whose folder is `session`."""
    for name in _names(root / session / "agents"):
        yield from _place(root, f"{session}/agents/{name}")


def stamp(root: Path, path: str) -> SessionPlace | None:
    """One session's current place; None if it is gone."""
    return next(_place(root, path), None)


def _place(root: Path, path: str) -> Iterator[SessionPlace]:
    with suppress(OSError, UnicodeEncodeError):
        path.encode()  # some names of files are no text
        stat = os.stat(f"{root}/{path}/{ROLLOUT}")  # noqa: PTH116  a Path for each of many is slow
        if stat.st_size:
            yield SessionPlace(path, stat.st_size, stat.st_mtime_ns)


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return sorted((entry.name for entry in found), reverse=True)
    except OSError:
        return []
