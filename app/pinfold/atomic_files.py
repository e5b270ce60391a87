"""Writes files atomically and durably, readable by the user alone."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_CANNOT_SYNC = {errno.EINVAL, errno.ENOTSUP}


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable, where the file system can."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(fd)


def make_folder(folder: Path) -> None:
    """Create `folder` (0700) and the parents that are missing, durably."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(folder.parent)


@contextmanager
def replacing(path: Path, mode: int = 0o600) -> Iterator[IO[bytes]]:
    """A file to write to; it replaces `path` if the block ends without error."""
    temporary = path.with_name(path.name + ".tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            os.fchmod(fd, mode)
            yield file
            file.flush()
            os.fsync(fd)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_atomic(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replace the content of `path`, durably. Raises `OSError`; `path` is then as it was."""
    with replacing(path, mode) as file:
        file.write(content)


def failure(path: Path, error: OSError) -> str:
    """A plain sentence for the user: why `path` could not be written."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return f"The disk is full (or a size limit is reached): {path} could not be written."
        case errno.EROFS | errno.EACCES | errno.EPERM:
            return f"{path} could not be written: it is read-only here."
        case _:
            return f"{path} could not be written: {error.strerror or error}."
