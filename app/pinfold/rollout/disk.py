"""Disk use of sessions, files that nothing refers to, and deleting a session."""

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from pinfold import atomic_files
from pinfold.rollout import codec
from pinfold.rollout.blobs import COMPRESSED, Blobs
from pinfold.rollout.events import SessionStarted
from pinfold.rollout.hold import LOCKS, Hold
from pinfold.rollout.journal import ROLLOUT, JournalError

PARTS = ("blobs", "outputs", "history")
"""Folders of a session; the rest are files beside the rollout."""
_TORN = "rollout.torn"
_HEX = re.compile(rb"[0-9a-f]{40,64}")
_LINE = 65_536
"""Bytes that the first line of a rollout has, at most."""


class SessionSize(Struct, frozen=True):
    """Bytes of one session's files."""

    rollout: int = 0
    blobs: int = 0
    outputs: int = 0
    history: int = 0
    """Copies of windows, which older versions wrote."""
    other: int = 0
    shared: int = 0
    """Of all these, what a fork shares: deleting one of the two frees none of it."""

    @property
    def total(self) -> int:
        return self.rollout + self.blobs + self.outputs + self.history + self.other


class Waste(Struct, frozen=True):
    """What nothing refers to in one session's folder."""

    folder: Path
    files: tuple[Path, ...]
    size: int
    """Bytes."""
    leftover: bool
    """Whether there is no session, only what a killed process left."""


def size_of(folder: Path) -> SessionSize:
    """What the session in `folder` takes. Links are not followed."""
    sizes = dict.fromkeys(("rollout", *PARTS, "other", "shared"), 0)
    for path, status in _regular(folder):
        first = path.relative_to(folder).parts[0]
        part = "rollout" if first == ROLLOUT else first if first in PARTS else "other"
        sizes[part] += status.st_size
        sizes["shared"] += status.st_size if status.st_nlink > 1 else 0
    return SessionSize(**sizes)


def together(folders: Sequence[Path]) -> int:
    """Bytes of these folders; shared files count once."""
    found = {
        (status.st_dev, status.st_ino): status.st_size
        for folder in folders
        for _, status in _regular(folder)
    }
    return sum(found.values())


def folders(root: Path) -> list[Path]:
    """The folders of all sessions under `root`, also of those that were never finished."""
    return sorted(path for path in root.glob("sessions/*/*/*/*") if path.is_dir())


def waste(folder: Path) -> Waste | None:
    """The files in a session's folder that nothing refers to; None if there are none.

    Whatever has the hash of a blob anywhere in its rollout refers to it. Raises `OSError`.
    """
    leftover = not _begun(folder)
    if leftover:
        found = [path for path, _ in _regular(folder) if path.name not in LOCKS]
    else:
        paths = list(Blobs(folder).paths())
        named = _named(folder) if paths else set()
        found = [path for path in paths if path.name.removesuffix(COMPRESSED) not in named]
    if not found:
        return None
    sizes = [path.lstat() for path in found]
    freed = sum(status.st_size for status in sizes if status.st_nlink == 1)
    return Waste(folder, tuple(found), freed, leftover)


def clear(folder: Path, now: Callable[[], datetime]) -> Waste | None:
    """Remove what nothing refers to. Raises `SessionHeld` where the session is open, `OSError`."""
    if waste(folder) is None:
        return None
    with Hold(folder, now):
        found = waste(folder)  # again: it may have been open until now
        if found is None:
            return None
        for path in found.files:
            path.unlink(missing_ok=True)
        if found.leftover:
            shutil.rmtree(folder, ignore_errors=True)
        return found


def delete(folder: Path, now: Callable[[], datetime]) -> None:
    """Delete a session. Raises `SessionHeld`, `JournalError`."""
    try:
        with Hold(folder, now):
            # First the rollout: without it there is no session, whatever is left of its folder.
            (folder / ROLLOUT).unlink()
            atomic_files.sync_folder(folder)
            shutil.rmtree(folder)
    except OSError as error:
        raise JournalError(f"{folder} could not be deleted: {error.strerror or error}.") from error


def started(folder: Path) -> SessionStarted | None:
    """The first event of a rollout; None where it can't be read."""
    try:
        with (folder / ROLLOUT).open("rb") as file:
            data = codec.decode(file.readline(_LINE)).data
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, SessionStarted) else None


def forks_of(session: str, every: Sequence[Path]) -> list[Path]:
    """The folders of the sessions that were forked from it."""
    return [
        folder
        for folder in every
        if (first := started(folder)) is not None
        and (first.forked_from or "").partition(":")[0] == session
    ]


def names(folder: Path, other: Path) -> bool:
    """Whether the session in `folder` names whole outputs in the folder of the other."""
    path = msgspec.json.encode(str(other / "outputs"))[1:-1]
    with suppress(FileNotFoundError), (folder / ROLLOUT).open("rb") as file:
        return any(path in line for line in file)
    return False


def _regular(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for at, _, found in os.walk(folder):
        for name in found:
            path = Path(at) / name
            with suppress(FileNotFoundError):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode):
                    yield path, status


def _begun(folder: Path) -> bool:
    try:
        return (folder / ROLLOUT).stat().st_size > 0
    except FileNotFoundError:
        return False


def _named(folder: Path) -> set[str]:
    found: set[bytes] = set()
    for name in (ROLLOUT, _TORN):
        with suppress(FileNotFoundError), (folder / name).open("rb") as file:
            for line in file:
                found.update(_HEX.findall(line))
    return {name.decode() for name in found}
