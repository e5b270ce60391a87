"""What a format of sessions states about itself."""

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from pinfold.adopt.adoption import Adoption
from pinfold.rollout.items import Item


class FileLines(Struct, frozen=True):
    """A file of one JSON value per line, as a reader gets it."""

    lines: Iterable[bytes]
    file: Path
    modified_at: datetime
    index: int
    """Which of its conversations to read, where the format allows several."""


class FileSummary(Struct, omit_defaults=True):
    """What the head and the end of a file say about its session."""

    session: str = ""
    title: str = ""
    """The given name, else the first line of the first prompt."""
    cwd: str = ""
    model: str = ""
    used: int = 0
    """Tokens of the window after the last response, by the provider's count; 0: unknown."""
    limit: int = 0
    """Tokens of the context window; 0: unknown."""
    note: str = ""
    updated_at: datetime | None = None
    """The last time in the file."""


class Listing(Struct, frozen=True, kw_only=True):
    """Where a tool keeps its sessions on this machine, and how they are listed."""

    variable: str
    """The environment variable that names the tool's folder."""
    folder: str
    """That folder where the variable is not set; may begin with `~`."""
    patterns: tuple[str, ...]
    """Session files, relative to that folder. Each begins with the name of a folder."""
    depth: int
    """How many folders below those the vault looks for sessions."""
    end_marks: tuple[bytes, ...]
    """Texts that a line at the end of a file must contain to be worth parsing."""
    summarize: Callable[[FileSummary, dict[str, Any]], None]
    """Adds what one record of a file says to the summary."""
    session_of: Callable[[str], str] = str
    """The session's id, from its file's name without the ending."""


class Format(Struct, frozen=True, kw_only=True):
    """A format that files with one JSON value per line may have."""

    name: str
    """In rollouts, in the vault and in output."""
    title: str
    """The tool's name for people."""
    file: str
    """What a file of it is called, with its article."""
    recognizes: Callable[[dict[str, Any]], bool]
    """Whether a line of a file, parsed, has this format."""
    read: Callable[[FileLines], Adoption]
    """Raises `NotASession`."""
    sets_up: Callable[[Item], bool] | None = None
    """Whether an item tells the tool how to work; None if it keeps those outside the window."""
    listing: Listing | None = None
    """None if its files may be anywhere."""
