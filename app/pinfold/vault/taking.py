"""Copies sessions of other tools into the vault, up to their last complete line."""

import errno
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from pinfold import atomic_files
from pinfold.adopt import foreign_list
from pinfold.adopt.foreign_list import ToolFolder
from pinfold.adopt.lines import unpacked
from pinfold.sanitize import encodable
from pinfold.vault.shelf import (
    LOCK,
    FileStamp,
    Shelf,
    VaultEntry,
    VaultError,
    Version,
    name_of,
    path_text,
)
from pinfold.vault.sources import SourceFile, beside, opened, sources

LEVEL = 9
"""zstd's level: sessions are copied rarely, and read more rarely."""
UNPACKED = 64 * 2**30
"""Largest session in bytes, where its tool has compressed it."""
LINE = 64 * 2**20
"""Longest line in bytes; a session with a longer one is left out."""
_BLOCK = 2**20
_FULL = {errno.ENOSPC, errno.EDQUOT}

TakeOutcome = Literal["new", "grown", "version", "same", "unwanted"]


class SyncReport(Struct):
    """The outcome of a sync."""

    new: int = 0
    grown: int = 0
    version: int = 0
    same: int = 0
    unwanted: int = 0
    removed: int = 0
    """Removed for age or space."""
    failed: dict[str, str] = {}
    """Why files could not be read."""

    @property
    def changed(self) -> bool:
        return bool(self.new or self.grown or self.version or self.removed)


@contextmanager
def locked(shelf: Shelf) -> Iterator[None]:
    """Raises `VaultError` if another process changes the vault."""
    from filelock import FileLock, Timeout

    try:
        atomic_files.make_folder(shelf.root)
        lock = FileLock(shelf.root / LOCK, mode=0o600, blocking=False)
        with lock:
            yield
    except Timeout:
        raise VaultError("Another pinfold is working on the vault; try again later.") from None


def sync(
    shelf: Shelf,
    folders: Sequence[ToolFolder],
    now: datetime,
    *,
    max_bytes: int,
    keep_days: float | None = None,
    taken: Callable[[int, int], object] = lambda _, __: None,
) -> SyncReport:
    """Copy what is new, then keep to the limits. After each file, `taken` gets the number of files
    done and of all.

    Raises `VaultError`; what was copied until then stays.
    """
    report = SyncReport()
    with locked(shelf):
        every = sources(folders)
        oldest = now.timestamp() - keep_days * 86_400 if keep_days else 0.0
        for count, source in enumerate(every, 1):
            if source.stamp[1] / 1e9 < oldest:
                break
            try:
                outcome = _take(shelf, source)
            except OSError as error:
                if error.errno in _FULL:
                    raise VaultError(atomic_files.failure(shelf.root, error)) from error
                report.failed[str(source.file)] = error.strerror or str(error)
            else:
                setattr(report, outcome, getattr(report, outcome) + 1)
            taken(count, len(every))
        report.removed = _prune(shelf, max_bytes, oldest)
    return report


def _take(shelf: Shelf, source: SourceFile) -> TakeOutcome:
    session = name_of(source.tool, source.stem)
    where = path_text(source.file)
    if shelf.is_unwanted(source.tool, session, where, source.stamp):
        return "unwanted"
    entry = shelf.entry(source.tool, session)
    found = {name: stamp for name, _, stamp in beside(source)}
    versions = entry.versions if entry is not None else ()
    for version in versions:
        if version.source == where and version.stamp == source.stamp and version.beside == found:
            return "same"
    folder = shelf.folder(source.tool, session)
    atomic_files.make_folder(folder)
    made, outcome = _store(folder, source, versions)
    if not made.size:  # its first line is being written
        return "same"
    made = replace(made, beside=_store_beside(folder, source, made, versions))
    kept = [version for version in versions if version.number != made.number]
    listed = foreign_list.head_and_end(source.tool, folder / made.file)
    entry = VaultEntry(
        tool=source.tool,
        session=session,
        title=encodable(listed.title),
        cwd=encodable(listed.cwd),
        versions=(*kept, made),
    )
    shelf.save(entry)
    return outcome


def _store(
    folder: Path, source: SourceFile, versions: Sequence[Version]
) -> tuple[Version, TakeOutcome]:
    """Store the file's complete lines: in place of the version they continue, or as a new one."""
    import zstandard

    temporary = folder / "taking"
    prefixes: dict[int, str] = {}
    sizes = sorted({version.size for version in versions})
    digest, size = hashlib.sha256(), 0
    packer = zstandard.ZstdCompressor(level=LEVEL)
    with (
        atomic_files.replacing(temporary) as out,
        packer.stream_writer(out, closefd=False) as packed,
    ):
        for block in _whole_lines(source.file):
            start = 0
            while sizes and sizes[0] <= size + len(block) - start:
                end = start + sizes[0] - size
                digest.update(memoryview(block)[start:end])
                prefixes[sizes[0]] = digest.hexdigest()
                size, start = sizes.pop(0), end
            digest.update(memoryview(block)[start:])
            size += len(block) - start
            packed.write(block)
    try:
        number, outcome = _place(versions, prefixes, size, digest.hexdigest())
        made = Version(number, size, digest.hexdigest(), path_text(source.file), source.stamp)
        if outcome == "same" or not size:
            temporary.unlink()
        else:
            os.utime(temporary, ns=(source.stamp[1], source.stamp[1]))
            temporary.replace(folder / made.file)
            atomic_files.sync_folder(folder)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return made, outcome


def _place(
    versions: Sequence[Version], prefixes: dict[int, str], size: int, sha256: str
) -> tuple[int, TakeOutcome]:
    """The version that a file becomes, and how it compares with the versions there are."""
    for version in versions:
        if (version.size, version.sha256) == (size, sha256):
            return version.number, "same"
    for version in versions:
        if prefixes.get(version.size) == version.sha256:
            return version.number, "grown"
    number = max((version.number for version in versions), default=0) + 1
    return number, "version" if versions else "new"


def _whole_lines(path: Path) -> Iterator[bytes]:
    """The bytes of a file up to its last line end; its tool may still write the rest."""
    rest = b""
    with os.fdopen(opened(path), "rb") as raw, unpacked(raw, UNPACKED) as file:
        while block := file.read(_BLOCK):
            end = block.rfind(b"\n") + 1
            if not end:
                rest += block
                if len(rest) > LINE:
                    raise OSError(errno.EFBIG, f"a line of it is longer than {LINE >> 20} MB")
                continue
            yield rest + block[:end]
            rest = block[end:]


def _store_beside(
    folder: Path, source: SourceFile, made: Version, versions: Sequence[Version]
) -> dict[str, FileStamp]:
    """Copy the files beside a session; what its tool deleted stays here."""
    import zstandard

    before = next((version.beside for version in versions if version.number == made.number), {})
    kept = dict(before)
    target = folder / f"{made.number}.jsonl"
    for name, path, stamp in beside(source):
        kept[name] = stamp
        if before.get(name) == stamp:
            continue
        atomic_files.make_folder((target / name).parent)
        with (
            os.fdopen(opened(path), "rb") as file,
            atomic_files.replacing(target / name) as out,
        ):
            zstandard.ZstdCompressor(level=LEVEL).copy_stream(cast("IO[bytes]", file), out)
    return kept


def _prune(shelf: Shelf, max_bytes: int, oldest: float) -> int:
    """Remove what is too old, then the least recently used that exceed `max_bytes`."""
    removed, size = 0, 0
    for entry in sorted(shelf.entries(), key=lambda entry: entry.newest.used, reverse=True):
        size += shelf.size(entry)
        if entry.newest.used < oldest or size > max_bytes:
            with suppress(OSError):
                shelf.remove(entry, for_good=False)
                removed += 1
    return removed
