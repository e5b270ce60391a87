"""Plain values of a team: lines with their quotes, claims of jobs."""

import hashlib
from typing import Literal

from msgspec import Struct

from pinfold.memories.statements import MemoryStatement, parse

TeamJobKind = Literal["publish", "consolidate"]
"""`publish`: the lines of a session, by the machine that has it; the key is the session's id.
`consolidate`: a new revision of the team's files; the key is the team."""


class TeamQuote(Struct, frozen=True):
    """A quote of a cited item, with which a machine without the session can check the line."""

    cite: str
    """`session#item`."""
    text: str
    """Lines of the item, without secrets and absolute paths."""
    file: str = ""
    """Relative to the repository's root; empty if the line has no file."""
    file_hash: str = ""
    """SHA-256 of the file when the line was shared."""


class TeamLine(Struct, frozen=True):
    """A line that an owner has shared."""

    id: str
    session: str
    folder: str
    """The session's folder, relative to the repository's root; empty for the root."""
    text: str
    """The statement, as `statements.parse` reads it."""
    quotes: tuple[TeamQuote, ...]
    owner: str = ""
    """The database role."""
    since: float = 0.0
    """When it was shared by the database's clock; seconds of the epoch."""
    stale: str = ""
    """Why it may be out of date, from the owner's machine."""

    @property
    def statement(self) -> MemoryStatement | None:
        return parse(self.text)


class TeamClaim(Struct, frozen=True):
    """A job that is ours until its lease ends."""

    kind: TeamJobKind
    key: str
    token: str
    input: str
    """The job's input when it was claimed."""


class Picked(Struct, frozen=True):
    """A line of a revision's file: the file's name and the line's id."""

    file: str
    line: str


def line_id(team: str, owner: str, session: str, text: str) -> str:
    return digest(team, owner, session, text)


def digest(*parts: str) -> str:
    """SHA-256 of the parts on lines; the database computes line ids in the same way."""
    return hashlib.sha256("\n".join(parts).encode(errors="replace")).hexdigest()
