"""What a list of sessions shows of each, read from its rollout."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec

from pinfold.rollout import codec, events
from pinfold.rollout.acts import told
from pinfold.rollout.hold import is_held
from pinfold.rollout.journal import ROLLOUT, Journal, JournalError

_TITLE = 80
CUT_OFF = "its last line is cut off"


class RolloutSummary(msgspec.Struct, omit_defaults=True):
    """What a rollout says of its session."""

    cwd: str = ""
    title: str = ""
    """The first line of the first prompt; empty before it."""
    model: str = ""
    turns: int = 0
    tokens: int = 0
    """Input tokens of the last request: as the provider counted, else as estimated."""
    note: str = ""
    """Why the rollout could not be read in full; empty where it could."""


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the list of sessions."""

    id: str
    folder: Path
    cwd: str
    title: str
    model: str
    turns: int
    tokens: int
    updated_at: datetime
    size: int
    """Bytes of the rollout."""
    note: str
    held: bool
    """Whether a pinfold has it open for writing."""


def summary(folder: Path, said: RolloutSummary | None = None) -> SessionSummary | None:
    """What the list says of the session in `folder`, or `said` of it; None where it is gone."""
    try:
        stat = (folder / ROLLOUT).stat()
    except OSError:
        return None
    return SessionSummary(
        id=folder.name,
        folder=folder,
        updated_at=datetime.fromtimestamp(stat.st_mtime, UTC),
        size=stat.st_size,
        held=is_held(folder),
        **msgspec.structs.asdict(listen(folder) if said is None else said),
    )


def listen(folder: Path) -> RolloutSummary:
    """What the rollout in `folder` says, read from its first line to its last."""
    said = RolloutSummary()
    try:
        with Journal.open(folder, partial(datetime.now, UTC), read_only=True) as journal:
            for event in journal.read():
                take(said, event.data)
            if journal.size < journal.path.stat().st_size:
                said.note = CUT_OFF
    except (JournalError, OSError) as error:
        said.note = str(error)
    return said


def take(said: RolloutSummary, data: events.Data) -> None:
    """Update `said` with the next event."""
    match data:
        case events.SessionStarted():
            said.cwd = data.cwd
        case events.ModelChanged():
            said.model = data.model
        case events.TurnStarted():
            said.turns += 1
        case events.RequestFinished(purpose="turn"):
            said.tokens = data.usage.input if data.usage else data.estimate
        case events.ItemAdded(item=item) if item.kind == "user" and not said.title:
            said.title = title_of(told(item))
        case events.Unknown(type=codec.UNREADABLE):
            said.note = "some lines can't be read"
        case _:
            pass


def title_of(prompt: str) -> str:
    """The first line of a prompt, shortened."""
    line = next((line for line in prompt.splitlines() if line.strip()), "")
    shown = "".join(char if char.isprintable() else " " for char in line.strip())
    return shown if len(shown) <= _TITLE else shown[: _TITLE - 1] + "…"
