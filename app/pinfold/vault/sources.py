"""The session files of other tools. Links are not followed; nothing is written."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from pinfold.adopt.foreign_list import ToolFolder
from pinfold.adopt.formats.registry import LISTINGS
from pinfold.vault.shelf import FileStamp

BESIDE = 5_000
"""Most files beside one session."""
_DEPTH = 8
_ENDS = (".jsonl", ".jsonl.zst")


class SourceFile(Struct, frozen=True):
    """A session's file."""

    tool: str
    file: Path
    stamp: FileStamp

    @property
    def stem(self) -> str:
        return self.file.name.removesuffix(".zst").removesuffix(".jsonl")


def sources(folders: Iterable[ToolFolder]) -> Sequence[SourceFile]:
    """The sessions' files, last used first."""
    found: list[SourceFile] = []
    for place in folders:
        for name in dict.fromkeys(pattern.partition("/")[0] for pattern in place.patterns):
            for path, status in _files(place.folder / name, LISTINGS[place.tool].depth):
                if path.name.endswith(_ENDS) and status.st_size:
                    found.append(SourceFile(place.tool, path, (status.st_size, status.st_mtime_ns)))
    return sorted(found, key=lambda source: source.stamp[1], reverse=True)


def beside(source: SourceFile) -> Iterator[tuple[str, Path, FileStamp]]:
    """The files in the session's own folder: relative path, path, stamp."""
    if source.stem in ("", ".", ".."):
        return  # no folder of its own
    folder = source.file.parent / source.stem
    for count, (path, status) in enumerate(_files(folder, _DEPTH)):
        if count == BESIDE:
            return
        name = str(path.relative_to(folder))
        with suppress(UnicodeEncodeError):
            name.encode()
            yield name, path, (status.st_size, status.st_mtime_ns)


def opened(path: Path) -> int:
    """A descriptor of a regular file, never of a link. Raises `OSError`."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return descriptor


def _files(folder: Path, depth: int) -> Iterator[tuple[Path, os.stat_result]]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        with suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                if depth:
                    yield from _files(Path(entry.path), depth - 1)
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path), entry.stat(follow_symlinks=False)
