"""The details of failures that nobody expected: `errors.log`."""

import os
from datetime import UTC, datetime
from pathlib import Path

from pinfold import paths
from pinfold.sanitize import clean

MOST = 1_000_000
"""Bytes; a larger log starts over."""


class ErrorLog:
    """Writes each failure once, however often it comes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written: set[str] = set()

    def add(self, details: str) -> str:
        """Write a traceback; where it is, in a sentence, or nothing if it is there already.

        Blocking.
        """
        if details in self._written:
            return ""
        self._written.add(details)
        try:
            self._write(f"{datetime.now(UTC).isoformat(timespec='seconds')}\n{clean(details)}\n")
        except OSError as trouble:
            return f"Details could not be written to {paths.shown(self._path)}: {trouble.strerror}."
        return f"Details: {paths.shown(self._path)}"

    def _write(self, entry: str) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(fd, "ab") as file:
            if file.tell() > MOST:
                file.truncate(0)
            file.write(entry.encode())
