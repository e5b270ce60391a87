"""What reading another tool's session yields."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from pinfold.rollout.events import Event

Tool = Literal["codex", "claude", "messages", "pinfold"]

HALF_WRITTEN = "The last line is half-written."
"""The note on a file that ends in the middle of a record."""


class NotASession(Exception):
    """A file holds no session that can be adopted; `str()` is a plain sentence."""


class Adoption(Struct, frozen=True, kw_only=True):
    """A session as events, begun by `SessionStarted`. Nothing is written yet."""

    tool: Tool
    session: str
    """Its id there; empty where the file names none."""
    title: str
    """The first line of the first prompt."""
    cwd: str
    """Its working directory; empty where the file names none."""
    started_at: datetime
    model: str
    """The last model that it used; empty where the file names none."""
    context_window: int
    """Tokens, as the file says; 0 where it doesn't."""
    events: tuple[Event, ...]
    """Each at its own foreign time; `seq` counts from 1."""
    skipped: dict[str, int]
    """What was not understood, by name, and how often."""
    notes: tuple[str, ...]
    """Plain sentences on what the reader should know."""
    conversations: int = 1
    """In the file, this one among them."""
