"""A list of the sessions of other tools on this machine.

Files may be large and many, so only the head is read, for the title, and the end, for the last
token count.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from heapq import heappop, heappush
from io import SEEK_END, BufferedReader
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from pinfold.adopt.formats.format import FileSummary, Listing
from pinfold.adopt.formats.registry import LISTINGS
from pinfold.adopt.lines import opened, parse, time_of
from pinfold.rollout.file_cache import FileCache, Key

_HEAD = 4_000_000
"""Bytes at the head in which to look for a prompt."""
_LINE = 2_000_000
"""Bytes of one line, at most."""
_ENDS = (64_000, 512_000, 4_000_000)
"""Bytes at the end in which to look for a count: first, next, last."""


class ToolFolder(Struct, frozen=True):
    """Where a tool keeps its sessions."""

    tool: str
    folder: Path
    patterns: tuple[str, ...]


class ForeignSession(Struct, frozen=True, kw_only=True):
    """A session of another tool."""

    tool: str
    file: Path
    updated_at: datetime
    size: int
    """Bytes of the file."""
    session: str
    title: str
    cwd: str
    model: str
    used: int
    limit: int
    note: str

    @property
    def full(self) -> float | None:
        """The share of the context window that is used."""
        return self.used / self.limit if self.used and self.limit else None


def tool_folders(env: Mapping[str, str] = os.environ) -> tuple[ToolFolder, ...]:
    """Where to look: what a tool's variable names, else its usual folder."""
    return tuple(
        ToolFolder(
            tool,
            Path(os.path.expanduser(env.get(listing.variable) or listing.folder)),  # noqa: PTH111  never raises
            listing.patterns,
        )
        for tool, listing in LISTINGS.items()
    )


def files(place: ToolFolder) -> list[Path]:
    """The session files of a tool, unordered."""
    try:
        return [file for pattern in place.patterns for file in place.folder.glob(pattern)]
    except OSError:
        return []


def sessions(where: Iterable[ToolFolder], database: Path) -> Iterator[ForeignSession]:
    """The sessions, last used first, each as soon as no remaining file can be newer.

    `database` caches what was read.
    """
    read: list[tuple[float, str, ForeignSession]] = []
    aged: list[tuple[int, int, str, str]] = []
    for place in where:
        for file in files(place):
            try:
                stat = file.stat()
            except OSError:
                continue
            if stat.st_size:
                aged.append((stat.st_mtime_ns, stat.st_size, str(file), place.tool))
    cache = FileCache(database, "foreign_sessions", FileSummary)
    cached = cache.read()
    fresh: dict[Key, FileSummary] = {}
    try:
        for mtime_ns, size, path, tool in sorted(aged, reverse=True):
            while read and -read[0][0] >= mtime_ns / 1e9:
                yield heappop(read)[-1]
            key = (path, size, mtime_ns)
            summary = cached.get(key)
            if summary is None:
                summary = fresh[key] = head_and_end(tool, Path(path))
            changed = datetime.fromtimestamp(mtime_ns / 1e9, UTC)
            session = ForeignSession(
                tool=tool,
                file=Path(path),
                size=size,
                **asdict(summary) | {"updated_at": summary.updated_at or changed},
            )
            heappush(read, (-session.updated_at.timestamp(), path, session))
        while read:
            yield heappop(read)[-1]
    finally:
        cache.add(fresh)


def head_and_end(tool: str, path: Path) -> FileSummary:
    """What a file's first and last lines say about its session."""
    summary = FileSummary()
    listing = LISTINGS[tool]
    try:
        with opened(path) as file:
            left = _HEAD
            for line in iter(partial(file.readline, _LINE), b""):
                _add_line(listing, summary, line)
                left -= len(line)
                if summary.title or left < 0:
                    break
            for end in _ends(file):
                summary.updated_at = summary.updated_at or _last_time(end)
                for line in end:
                    if any(mark in line for mark in listing.end_marks):
                        _add_line(listing, summary, line)
                if summary.used:
                    break
    except OSError as error:
        summary.note = f"can't be read: {error.strerror}"
    return summary


def _ends(file: BufferedReader) -> Iterator[list[bytes]]:
    """The last lines, then more of them. The first may be cut off and not be JSON."""
    if not file.seekable():
        rest = b""
        while block := file.read(_ENDS[-1]):
            rest = (rest + block)[-_ENDS[-1] :]
        yield rest.splitlines()
        return
    size = file.seek(0, SEEK_END)
    for length in _ENDS:
        file.seek(max(0, size - length))
        yield file.read().splitlines()
        if length >= size:
            return


def _last_time(lines: Sequence[bytes]) -> datetime | None:
    for line in reversed(lines):
        if b'"timestamp"' in line:
            with suppress(ValueError):
                record = parse(line)
                if isinstance(record, dict) and (at := time_of(record)):
                    return at
    return None


def _add_line(listing: Listing, summary: FileSummary, line: bytes) -> None:
    try:
        record = parse(line)
    except ValueError:
        return
    if isinstance(record, dict):
        listing.summarize(summary, record)
