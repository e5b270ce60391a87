"""What reading another tool's session yields."""

from datetime import datetime

from msgspec import Struct

from pinfold.rollout.events import Event

HALF_WRITTEN = "The last line is half-written."


class NotASession(Exception):
    """A file has no session that can be adopted; `str()` is a plain sentence."""


class Adoption(Struct, frozen=True, kw_only=True):
    """A session as events, begun by `SessionStarted`. Nothing is written yet."""

    tool: str
    """The name of its format."""
    session: str
    """Its id there; empty if the file names none."""
    title: str
    """The first line of the first prompt."""
    cwd: str
    """Its working directory; empty if the file names none."""
    started_at: datetime
    model: str
    """The last model that it used; empty if the file names none."""
    context_window: int
    """Tokens; 0 if the file does not say."""
    events: tuple[Event, ...]
    """With the times of the file; `seq` counts from 1."""
    skipped: dict[str, int]
    """What was not understood, by name, with counts."""
    notes: tuple[str, ...]
    """Plain sentences for the user."""
    conversations: int = 1
    """How many the file has, this one included."""
