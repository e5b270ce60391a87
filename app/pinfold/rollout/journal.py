"""The journal: one session's append-only log of events, `rollout.jsonl`.

A journal that is open for writing holds the session's lock. What `append` returned is on the
disk. What can't be read at its end is cut off at the next opening and kept in `rollout.torn`.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Self

import msgspec

from pinfold import atomic_files
from pinfold.rollout import codec, events, pictures
from pinfold.rollout.blobs import FOLDER, Blobs
from pinfold.rollout.events import Data, Event, SessionStarted
from pinfold.rollout.hold import Hold

ROLLOUT = "rollout.jsonl"
_BLOCK = 65_536
_LONG_AGO = datetime.fromtimestamp(0, UTC)


class Torn(msgspec.Struct, frozen=True):
    """What was cut off the end of a rollout: no line of it could be read."""

    path: Path
    """Where it went."""
    lines: int
    size: int
    """Bytes."""
    half: bool
    """Whether its last line has no end."""


Place = tuple[int, int]
"""Offset and length of a line, in bytes."""

_sync = getattr(os, "fdatasync", os.fsync)


class JournalError(Exception):
    """The journal can't do it; `str()` is a plain sentence for the user."""


class Journal:
    """An open rollout. Blocking, and safe to call from any thread."""

    started: SessionStarted
    """The first event."""
    torn: Torn | None = None
    """What was cut off at this opening."""

    def __init__(self, folder: Path, now: Callable[[], datetime], *, read_only: bool) -> None:
        """Use `create` or `open`."""
        self.folder = folder
        self.path = folder / ROLLOUT
        self.read_only = read_only
        self.last_seq = 0
        self.size = 0
        """Bytes of the sound lines."""
        self._now = now
        self._blobs = Blobs(folder)
        self._half_written = False
        self._file: IO[bytes] | None = None
        self._hold: Hold | None = None
        self._mutex = threading.Lock()

    @classmethod
    def create(
        cls, folder: Path, started: SessionStarted, now: Callable[[], datetime]
    ) -> "Journal":
        """The journal of a new session, begun with `started`. Raises `JournalError`."""
        journal = cls(folder, now, read_only=False)
        try:
            atomic_files.make_folder(folder)
            journal._hold = Hold(folder, now)
            journal.path.touch(mode=0o600, exist_ok=False)
            journal._file = journal.path.open("r+b", buffering=0)
            atomic_files.sync_folder(folder)
            journal.append(started)
            journal.started = started
        except OSError as error:
            journal.close()
            raise JournalError(atomic_files.failure(journal.path, error)) from error
        except JournalError:
            journal.path.unlink(missing_ok=True)
            journal.close()
            raise
        return journal

    @classmethod
    def open(
        cls, folder: Path, now: Callable[[], datetime], *, read_only: bool = False
    ) -> "Journal":
        """The journal of an existing session. Raises `JournalError`, `SessionHeld`.

        A read-only journal takes no lock, changes nothing, and ends where the rollout ended when
        it was opened.
        """
        journal = cls(folder, now, read_only=read_only)
        try:
            if not journal.path.is_file():
                raise JournalError(f"There is no session in {folder}.")
            if not read_only:
                journal._hold = Hold(folder, now)
            journal._file = journal.path.open("rb" if read_only else "r+b", buffering=0)
            journal._find_end()
        except OSError as error:
            journal.close()
            raise JournalError(f"{journal.path} could not be opened: {error.strerror}.") from error
        except JournalError:
            journal.close()
            raise
        return journal

    def append(self, *data: Data) -> tuple[Event, ...]:
        """Write one event for each of `data`; all of them are durable when this returns.

        Their pictures become blobs first: no line names one that is not there.
        Raises `JournalError`, and then none was written; a later call may succeed.
        """
        with self._mutex:
            if self._file is None or self.read_only:
                raise JournalError(f"{self.path} is not open for writing.")
            at = self._now()
            lines, written = [], []
            offset = self.size
            for seq, datum in enumerate(data, self.last_seq + 1):
                event, line = self._line(Event(seq, at, datum))
                lines.append(line + b"\n")
                written.append(Event(seq, at, event.data, offset, len(line)))
                offset += len(line) + 1
            self._write(b"".join(lines))
            self.last_seq += len(written)
            return tuple(written)

    def read(self, offset: int = 0, seq: int = 0) -> Iterator[Event]:
        """All events, oldest first, or those after the event `seq`, which ends at `offset`.

        A line that can't be understood comes as `Unknown`, so that the rest can be used.
        Raises `JournalError` if the file can't be read.
        """
        at = _LONG_AGO
        try:
            for line in self.lines(offset):
                event = self._event(line, seq + 1, at, offset)
                seq, at = event.seq, event.ts
                offset += len(line) + 1
                yield event
        except OSError as error:
            raise self._unread(error) from error

    def read_at(self, places: Iterable[Place]) -> Iterator[Event]:
        """The events whose lines are there. Raises `JournalError` if the file can't be read."""
        try:
            with self.path.open("rb") as file:
                for offset, length in places:
                    file.seek(offset)
                    yield self._event(file.read(length), 0, _LONG_AGO, offset)
        except OSError as error:
            raise self._unread(error) from error

    def _unread(self, error: OSError) -> JournalError:
        return JournalError(f"{self.path} could not be read: {error.strerror}.")

    def lines(self, offset: int = 0) -> Iterator[bytes]:
        """The raw lines from `offset` on, without their line ends."""
        left = self.size - offset
        with self.path.open("rb") as file:
            file.seek(offset)
            for line in file:
                left -= len(line)
                if left < 0:
                    return
                yield line[:-1]

    def whole_lines(self) -> Iterator[bytes]:
        """All lines with the bytes of their pictures, for readers without blobs."""
        return (pictures.filled_line(line, self._blobs) for line in self.lines())

    def _line(self, event: Event) -> tuple[Event, bytes]:
        try:
            return pictures.written(event, self._blobs)
        except OSError as error:
            raise JournalError(atomic_files.failure(self.folder / FOLDER, error)) from error

    def _event(self, line: bytes, seq: int, at: datetime, offset: int) -> Event:
        event = codec.decode_leniently(line, seq, at)
        data = pictures.filled(event.data, self._blobs)
        return Event(event.seq, event.ts, data, offset, len(line))

    def close(self) -> None:
        """Release the session."""
        with self._mutex:
            if self._file is not None:
                self._file.close()
                self._file = None
            if self._hold is not None:
                self._hold.release()
                self._hold = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, block: bytes) -> None:
        file = self._file
        assert file is not None
        try:
            self._drop_half_written(file)
            self._half_written = True
            file.seek(self.size)
            rest = memoryview(block)
            while rest:
                rest = rest[file.write(rest) :]
            _sync(file.fileno())
        except OSError as error:
            # where even this fails, the next append tries again, or the next opening cuts
            with suppress(OSError):
                self._drop_half_written(file)
            raise JournalError(atomic_files.failure(self.path, error)) from error
        self._half_written = False
        self.size += len(block)

    def _drop_half_written(self, file: IO[bytes]) -> None:
        if self._half_written:
            file.truncate(self.size)
            self._half_written = False

    def _find_end(self) -> None:
        """Find the last sound line, and cut off what follows it."""
        file = self._file
        assert file is not None
        self.started = self._check_first(file.readline(_BLOCK))
        size = file.seek(0, os.SEEK_END)
        for start, line in _lines_backwards(file, size):
            head = codec.header(line) if line.endswith(b"\n") else None
            if head is not None:
                self.last_seq = head.seq
                self.size = start + len(line)
                break
        if self.size < size and not self.read_only:
            self._cut(file)

    def _check_first(self, line: bytes) -> SessionStarted:
        head = codec.header(line)
        if head is not None and codec.schema(head) > events.SCHEMA:
            raise JournalError(f"{self.path} was written by a newer pinfold. Please update.")
        if head is not None and line.endswith(b"\n"):
            first = codec.decode_leniently(line, head.seq, head.ts)
            if isinstance(first.data, SessionStarted):
                return first.data
        raise JournalError(f"{self.path} holds no session.")

    def _cut(self, file: IO[bytes]) -> None:
        file.seek(self.size)
        rest = file.read()
        half = not rest.endswith(b"\n")
        path = self.folder / "rollout.torn"
        self.torn = Torn(path, rest.count(b"\n") + half, len(rest), half)
        path.touch(mode=0o600)
        with path.open("ab") as kept:
            kept.write(rest + b"\n" if half else rest)
            kept.flush()
            os.fsync(kept.fileno())
        atomic_files.sync_folder(self.folder)
        file.truncate(self.size)
        _sync(file.fileno())


def _lines_backwards(file: IO[bytes], end: int) -> Iterator[tuple[int, bytes]]:
    """The lines before `end`, last first, each with its offset and its line end."""
    buffer, start = b"", end
    while start:
        step = min(max(_BLOCK, len(buffer)), start)
        start -= step
        file.seek(start)
        buffer = file.read(step) + buffer
        while (cut := buffer.rfind(b"\n", 0, -1) + 1) > 0:
            yield start + cut, buffer[cut:]
            buffer = buffer[:cut]
    if buffer:
        yield 0, buffer
