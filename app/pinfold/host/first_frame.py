"""The first frame: what the screen showed last time, so that a start can paint it at once.

A folder that one works in has one of a new session; a session that was closed has one of its own.
They are caches.
"""

import os
import re
from binascii import crc32
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from pinfold import __version__
from pinfold.host.app_context import AppContext
from pinfold.small_files import read, read_text

FILE = "first_frame.json"
LIMIT = 1_000_000
"""Bytes of the largest that is read."""
Run = tuple[str, str]
"""A text, and the codes for its look."""

_LOOK = re.compile(r"\x1b\[[0-9;]*m")
_TERMINAL = ("TERM", "COLORTERM", "TERM_PROGRAM", "NO_COLOR")
"""Variables on which the colours depend."""


class Place(Struct, frozen=True):
    """Where the prompt is: its first cell (from 0), its width, its look, and that of the cursor."""

    x: int
    y: int
    width: int
    look: str
    cursor: str


class Frame(Struct, frozen=True):
    """The rows of the screen, with an empty prompt."""

    made_for: Sequence[str]
    """What has to be the same for it to be shown again."""
    rows: Sequence[Sequence[Run]]
    prompt: Place
    session: str = ""
    """The folder of the session that it shows, if any."""
    size: int = 0
    """The bytes of that session's rollout."""

    @property
    def is_harmless(self) -> bool:
        """Whether to write it can do no more than to show text."""
        looks = [self.prompt.look, self.prompt.cursor]
        looks += [look for row in self.rows for _, look in row]
        return all(map(_LOOK.fullmatch, looks)) and all(
            text.isprintable() for row in self.rows for text, _ in row
        )


class Frames:
    """The frames of one folder under one set of settings. Blocking."""

    def __init__(self, ctx: AppContext) -> None:
        self._ctx = ctx
        self._settings = f"{crc32(repr(ctx.settings).encode()):08x}"

    def made_for(self, columns: int, lines: int, theme: str) -> Sequence[str]:
        """All that decides how the screen looks but the session."""
        terminal = (os.environ.get(name, "") for name in _TERMINAL)
        size = f"{columns}x{lines}"
        return [__version__, str(self._ctx.cwd), self._settings, theme, size, *terminal]

    def load(self, made_for: Sequence[str], session: str | None = None) -> Frame | None:
        """The frame of a new session, or of the one last closed, if its id begins with `session`.

        None where it is no longer true.
        """
        try:
            folder = self._folder if session is None else Path(read_text(self._closed, 10_000))
            frame = msgspec.json.decode(read(folder / FILE, LIMIT), type=Frame)
            if session is not None and (
                not folder.name.startswith(session)
                or (frame.session, frame.size) != (str(folder), _size(folder))
            ):
                return None
        except (OSError, ValueError, RecursionError):
            return None
        return frame if frame.made_for == made_for and frame.is_harmless else None

    def save(self, frame: Frame, session: Path | None = None) -> None:
        """Keep what shows a new session, or the one in the folder `session`, which is closed.

        A failure is none: the next start paints a little later.
        """
        from pinfold.atomic_files import make_folder, write_atomic
        from pinfold.rollout.journal import JournalError

        with suppress(OSError, JournalError):
            if session is not None:
                if self._ctx.store.last(self._ctx.cwd) != session:
                    return  # `--continue` would open another one
                frame = msgspec.structs.replace(frame, session=str(session), size=_size(session))
            data = msgspec.json.encode(frame)
            if frame.is_harmless and len(data) <= LIMIT:
                make_folder(self._folder)
                # With the session's folder goes what it showed.
                write_atomic((session or self._folder) / FILE, data)
                if session is not None:
                    write_atomic(self._closed, os.fsencode(session))

    def forget(self) -> None:
        """The session last closed is no longer the newest one in this folder."""
        with suppress(OSError):
            self._closed.unlink(missing_ok=True)

    @property
    def _folder(self) -> Path:
        name = f"{crc32(os.fsencode(self._ctx.cwd)):08x}"
        return self._ctx.home / "first_frames" / name

    @property
    def _closed(self) -> Path:
        """The file that names the folder of the session last closed."""
        return self._folder / "session"


def _size(folder: Path) -> int:
    return (folder / "rollout.jsonl").stat().st_size
