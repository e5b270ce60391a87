"""Logs of servers and the SDK, in files, never on the screen."""

import logging
import os
from pathlib import Path
from typing import IO

from pinfold.atomic_files import make_folder
from pinfold.sanitize import one_line

MOST_BYTES = 4_000_000
_LOGGERS = ("mcp", "client", "httpx2", "httpcore2")
"""Those of the SDK and of its HTTP client."""


class Log:
    """A file for what a server prints besides messages, up to `MOST_BYTES`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last = ""
        """The last line of it."""
        self.size = 0
        """Bytes that came, also those that were not kept."""
        self._file: IO[bytes] | None = None

    def open(self) -> None:
        """Create or empty the file. Blocking. If that fails, nothing is kept."""
        try:
            make_folder(self.path.parent)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        except OSError:
            return
        self._file = os.fdopen(descriptor, "wb", 0)

    def write(self, data: bytes) -> None:
        room = MOST_BYTES - self.size
        self.size += len(data)
        lines = data[-2_000:].strip().rsplit(b"\n", 1)
        self.last = one_line(lines[-1].decode(errors="replace"))[:200] or self.last
        if self._file is not None and room > 0:
            try:
                self._file.write(data[:room])
            except OSError:
                self._file = None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def keep_loggers_quiet(folder: Path) -> None:
    """Send what the SDK logs to a file in `folder`. Blocking. Raises `OSError`."""
    from logging.handlers import RotatingFileHandler

    make_folder(folder)
    handler = RotatingFileHandler(folder / "sdk.log", maxBytes=1_000_000, backupCount=1, delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message).2000s"))
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(one, RotatingFileHandler) for one in logger.handlers):
            logger.addHandler(handler)
            logger.propagate = False
