"""What a team shares, as plain values: lines with their quotes, claims of jobs."""

import hashlib
from typing import Literal

from msgspec import Struct

from pinfold.memories.statements import MemoryStatement, parse

TeamJobKind = Literal["publish", "consolidate"]
"""`publish`: a session's lines, by the machine that has the session; its key is the session's id.
`consolidate`: a new revision of the team's files; its key is the team."""


class TeamQuote(Struct, frozen=True):
    """What a cited item says, so that a machine without the session can check the line."""

    cite: str
    """`session#item`."""
    text: str
    """Lines of the item, without secrets and absolute paths."""
    file: str = ""
    """Relative to the repository's root; empty where the line speaks of no file."""
    file_hash: str = ""
    """SHA-256 of the file when the line was shared."""


class TeamLine(Struct, frozen=True):
    """A line that an owner has shared."""

    id: str
    session: str
    folder: str
    """Where the session worked, relative to the repository's root; empty is the root."""
    text: str
    """The statement, as `statements.parse` reads it."""
    quotes: tuple[TeamQuote, ...]
    owner: str = ""
    """The database role."""
    since: float = 0.0
    """When it was shared, by the database's clock; seconds of the epoch."""
    stale: str = ""
    """Why the owner's machine says that it may no longer hold."""

    @property
    def statement(self) -> MemoryStatement | None:
        return parse(self.text)


class TeamClaim(Struct, frozen=True):
    """A job that is ours until its lease ends."""

    kind: TeamJobKind
    key: str
    token: str
    input: str
    """What the job was to work on when it was claimed."""


class Picked(Struct, frozen=True):
    """A place in the files of a revision: the file's name and a line's id."""

    file: str
    line: str


def line_id(team: str, owner: str, session: str, text: str) -> str:
    return digest(team, owner, session, text)


def digest(*parts: str) -> str:
    """As the database computes ids of lines."""
    return hashlib.sha256("\n".join(parts).encode(errors="replace")).hexdigest()
