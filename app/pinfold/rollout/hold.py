"""The lock of a session, held while pinfold writes to its folder or removes from it."""

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Self

import msgspec

from pinfold import atomic_files

_LOCK, _HOLDER = "rollout.lock", "holder.json"
LOCKS = frozenset({_LOCK, _HOLDER})
"""Files that a hold makes in a session's folder."""


class Holder(msgspec.Struct, frozen=True):
    """Who has a session open for writing."""

    pid: int = 0
    """0 where the holder has not said who it is."""
    host: str = ""
    since: datetime | None = None


class SessionHeld(Exception):
    """Another pinfold has the session open for writing."""

    def __init__(self, holder: Holder) -> None:
        self.holder = holder
        who = f" (process {holder.pid} on {holder.host})" if holder.pid else ""
        super().__init__(f"This session is open in another pinfold{who}.")


class Hold:
    """The lock of the session in `folder`, taken. Raises `SessionHeld`, `OSError`."""

    def __init__(self, folder: Path, now: Callable[[], datetime]) -> None:
        from filelock import FileLock, Timeout

        self._folder = folder
        self._lock = FileLock(_lock_path(folder), mode=0o600, thread_local=False)
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            raise SessionHeld(_holder(folder)) from None
        holder = Holder(os.getpid(), socket.gethostname(), now())
        with suppress(OSError):  # a full disk must not keep the session shut
            atomic_files.write_atomic(_holder_path(folder), msgspec.json.encode(holder))

    def release(self) -> None:
        with suppress(OSError):
            _holder_path(self._folder).unlink()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def is_held(folder: Path) -> bool:
    """Whether a pinfold has the session in `folder` open for writing."""
    if not _holder_path(folder).exists():  # a crash leaves it behind, so the lock decides
        return False
    from filelock import FileLock, Timeout

    try:
        with FileLock(_lock_path(folder), mode=0o600, blocking=False):
            return False
    except Timeout:
        return True
    except OSError:
        return False


def _lock_path(folder: Path) -> Path:
    return folder / _LOCK


def _holder_path(folder: Path) -> Path:
    # not in the lock file itself: releases of filelock before 4 empty it on every attempt
    return folder / _HOLDER


def _holder(folder: Path) -> Holder:
    try:
        return msgspec.json.decode(_holder_path(folder).read_bytes(), type=Holder)
    except (OSError, ValueError):
        return Holder()
