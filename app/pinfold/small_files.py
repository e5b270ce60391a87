"""Reads files of unknown origin, in a repository or a config folder.

Only regular files are read, and no more of them than is asked for: a pipe or a device in their
place would hang the reader or fill its memory. What is wrong is in `OSError.strerror`.
"""

import errno
import os
import stat
from pathlib import Path


def head(path: Path, size: int) -> bytes:
    """The first bytes of a regular file, at most `size`. Raises `OSError`."""
    # Without O_NONBLOCK the opening of a pipe waits for its writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        found = b""
        while len(found) < size and (more := os.read(descriptor, size - len(found))):
            found += more
        return found
    finally:
        os.close(descriptor)


def read(path: Path, limit: int) -> bytes:
    """A regular file of at most `limit` bytes. Raises `OSError`."""
    data = head(path, limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes")
    return data


def read_text(path: Path, limit: int) -> str:
    """The same as text, its line ends as `\\n`. Raises `OSError`."""
    try:
        text = read(path, limit).decode("utf-8")
    except UnicodeDecodeError as error:
        raise OSError(errno.EILSEQ, "it is not UTF-8 text") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
