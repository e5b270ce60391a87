"""A command's output: head and tail for the model, all of it in a file."""

import asyncio
import codecs
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from pinfold.atomic_files import make_folder
from pinfold.tools.workspace import size_text

CAP = 16_000
"""Bytes that the model sees at most; what is longer goes to a file."""
MAX_FILE = 256_000_000
"""Bytes that the file takes."""
INTERVAL = 0.05
"""Seconds between two pieces of live output."""
MAX_PIECE = 16_000
"""Characters in one piece of live output; of more, the last ones."""


class Capture:
    """Keeps the first and the last half of `cap` bytes; beyond it, everything in a file."""

    def __init__(self, folder: Path, call_id: str, cap: int = CAP) -> None:
        self._cap, self._half = cap, cap // 2
        self._folder = folder
        self._call_id = call_id
        self._lock = threading.Lock()
        self._closed = False
        self._head = b""
        self._tail = b""
        self._size = 0
        self._file: IO[bytes] | None = None
        self._written = 0
        self._problem = ""
        self.path: Path | None = None
        """The file with the whole output, where it did not fit the cap."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes; may block on the disk. After `close` it does nothing."""
        with self._lock:
            if self._closed:
                return
            before, self._size = self._size, self._size + len(data)
            if self._size <= self._cap:
                self._head += data
                return
            if before <= self._cap:
                self._open()
                data = self._head + data
                self._head, rest = data[: self._half], data[self._half :]
            else:
                rest = data
            self._write(data)
            self._tail = (self._tail + rest)[-self._half :]

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._file is not None:
                self._file.close()

    def text(self) -> str:
        """What the model sees."""
        if self._size <= self._cap:
            return self._head.decode(errors="replace")
        head, tail = self._head, self._tail
        # Whole lines read better, where lines are not endless.
        head = head[: head.rfind(b"\n") + 1] or head
        tail = tail[tail.find(b"\n", 0, -1) + 1 :]
        left = size_text(self._size - len(head) - len(tail))
        return (
            f"{head.decode(errors='replace').rstrip()}\n"
            f"[... {left} left out; {self._place_text()} ...]\n"
            f"{tail.decode(errors='replace')}"
        )

    def _place_text(self) -> str:
        if self._problem:
            return self._problem
        if self._written < self._size:
            return f"the first {size_text(self._written)} are in {self.path}"
        return f"the whole output is in {self.path}"

    def _open(self) -> None:
        try:
            self.path, self._file = new_file(self._folder, self._call_id)
        except OSError as error:
            self._problem = f"it could not be kept: {error.strerror}"

    def _write(self, data: bytes) -> None:
        if self._file is None or self._problem:
            return
        piece = data[: MAX_FILE - self._written]
        try:
            self._file.write(piece)
            self._file.flush()
        except OSError as error:
            self._problem = f"only a part is in {self.path}: {error.strerror}"
        self._written += len(piece)


def keep(folder: Path, call_id: str, text: str | bytes) -> Path:
    """Write a whole output into a new file. Raises `OSError`."""
    path, file = new_file(folder, call_id)
    with file:
        content = text if isinstance(text, bytes) else text.encode(errors="replace")
        file.write(content[:MAX_FILE])
    return path


def new_file(folder: Path, call_id: str) -> tuple[Path, IO[bytes]]:
    """A file for an output of a session, which was not there before: some servers count their
    calls again in each response. Raises `OSError`."""
    folder /= "outputs"
    make_folder(folder)
    stem = re.sub(r"[^\w-]", "_", call_id)[:100] or "call"
    number = 1
    while True:
        path = folder / (f"{stem}.txt" if number == 1 else f"{stem}-{number}.txt")
        try:
            return path, path.open("xb")
        except FileExistsError:
            number += 1


class Live:
    """Passes output on as text, in bounded pieces and not too often."""

    def __init__(self, take: Callable[[str], None]) -> None:
        self._take = take
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, data: bytes) -> None:
        self._pending = (self._pending + self._decoder.decode(data))[-MAX_PIECE:]
        if self._timer is None:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._due)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._pending += self._decoder.decode(b"", final=True)
        self._flush()

    def _due(self) -> None:
        self._timer = None
        if self._pending:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._due)

    def _flush(self) -> None:
        text, self._pending = self._pending, ""
        if text:
            self._take(text)
