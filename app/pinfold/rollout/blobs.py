"""Bytes that a session keeps once, by their hash: pictures, and files before each edit.

They are compressed in `blobs/<hash>.zst` beside the rollout; older sessions have `blobs/<hash>`,
uncompressed. A hash in a rollout may be hostile: what is not a hash names nothing, and bytes that
do not have the hash are not returned.
"""

import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from pinfold import atomic_files

FOLDER = "blobs"
COMPRESSED = ".zst"
MAX_READ = 1 << 30
"""Bytes of one blob: a small file may decompress to any size."""
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_GIT = 40
"""Characters of git's hash of a blob; the other is SHA-256."""


class Sink(Protocol):
    """Where the bytes of a blob are written."""

    def write(self, data: bytes, /) -> object: ...


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Blobs:
    """The blobs of the session in `folder`. Blocking."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def add(self, data: bytes) -> str:
        """Keep the bytes; their SHA-256. They are durable when this returns. Raises `OSError`."""
        name = sha256(data)
        if self.read(name, len(data)) is None:  # one that is damaged is written again
            with self.writing(name) as copy:
                copy.write(data)
        return name

    def has(self, name: str) -> bool:
        """Whether there is such a blob; it may be damaged."""
        return any(path.is_file() for path in self._paths(name))

    def read(self, name: str, limit: int = MAX_READ) -> bytes | None:
        """The bytes of that hash; None where they are not there, damaged, or more than `limit`."""
        for path in self._paths(name):
            with suppress(OSError):
                data = _content(path, limit)
                if data is not None and _has_hash(data, name):
                    return data
        return None

    @contextmanager
    def writing(self, name: str) -> Iterator[Sink]:
        """Write the blob of that hash; it is there, durably, once the block ends without error."""
        import zstandard

        atomic_files.make_folder(self._folder)
        # A unique name: another thread may write the same bytes.
        fd, temporary = tempfile.mkstemp(dir=self._folder, prefix=name, suffix=".tmp")
        try:
            with os.fdopen(fd, "wb") as file:
                with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as copy:
                    yield copy
                file.flush()
                os.fsync(fd)
            Path(temporary).replace(self._folder / (name + COMPRESSED))
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        atomic_files.sync_folder(self._folder)

    def link_to(self, folder: Path) -> None:
        """Give the session in `folder` the same blobs, as hard links where the file system has
        them. Raises `OSError`."""
        found = list(self.paths())
        if not found:
            return
        target = folder / FOLDER
        atomic_files.make_folder(target)
        for path in found:
            with suppress(FileNotFoundError):  # nothing referred to it
                try:
                    os.link(path, target / path.name, follow_symlinks=False)
                except OSError:
                    with (
                        path.open("rb") as source,
                        atomic_files.replacing(target / path.name) as copy,
                    ):
                        shutil.copyfileobj(source, copy)
        atomic_files.sync_folder(target)

    def paths(self) -> Iterator[Path]:
        """Its files: whole blobs, and leftovers of a killed process."""
        with suppress(OSError):
            for path in sorted(self._folder.iterdir()):
                if stat.S_ISREG(path.lstat().st_mode):
                    yield path

    def _paths(self, name: str) -> Iterator[Path]:
        if _HASH.fullmatch(name):
            yield self._folder / (name + COMPRESSED)
            yield self._folder / name


def _content(path: Path, limit: int) -> bytes | None:
    """What a regular file holds, decompressed; None where it can't be. Raises `OSError`."""
    import zstandard

    # No link is followed, and a pipe in its place holds nothing up.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        if path.suffix != COMPRESSED:
            data = file.read(limit + 1)
        else:
            try:
                reader = zstandard.ZstdDecompressor().stream_reader(file, closefd=False)
                data = b"".join(_pieces(reader, limit + 1))
            except zstandard.ZstdError:
                return None
    return data if len(data) <= limit else None


def _pieces(reader: object, most: int) -> Iterator[bytes]:
    while most > 0 and (piece := reader.read(min(most, 1 << 20))):  # type: ignore[attr-defined]
        most -= len(piece)
        yield piece


def _has_hash(data: bytes, name: str) -> bool:
    if len(name) != _GIT:
        return sha256(data) == name
    digest = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest() == name
