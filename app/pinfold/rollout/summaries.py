"""What a list of sessions shows of each: read from its rollout once, then cached in `state.db`."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec

from pinfold.rollout import codec, events
from pinfold.rollout.acts import told
from pinfold.rollout.file_cache import FileCache, Key
from pinfold.rollout.hold import is_held
from pinfold.rollout.journal import ROLLOUT, Journal, JournalError

_TITLE = 80


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


def summarise(root: Path, folders: Sequence[Path]) -> list[SessionSummary]:
    """A summary for each of `folders` (all under `root`), in their order; none for those gone.

    The cache in `root` may be missing, locked or broken: then the rollouts themselves are read.
    """
    cache = _cache(root)
    cached = cache.read()
    fresh: dict[Key, RolloutSummary] = {}
    summaries: list[SessionSummary] = []
    for folder in folders:
        try:
            stat = (folder / ROLLOUT).stat()
        except OSError:
            continue
        key = (str(folder.relative_to(root)), stat.st_size, stat.st_mtime_ns)
        said = cached.get(key)
        if said is None:
            said = fresh[key] = _listen(folder)
        summaries.append(
            SessionSummary(
                id=folder.name,
                folder=folder,
                updated_at=datetime.fromtimestamp(stat.st_mtime, UTC),
                size=stat.st_size,
                held=is_held(folder),
                **msgspec.structs.asdict(said),
            )
        )
    cache.add(fresh)
    return summaries


def forget(root: Path, folder: Path) -> None:
    """Drop what is cached of a session that is deleted."""
    _cache(root).forget(str(folder.relative_to(root)))


def _cache(root: Path) -> FileCache[RolloutSummary]:
    return FileCache(root / "state.db", "sessions", RolloutSummary)


def _listen(folder: Path) -> RolloutSummary:
    said = RolloutSummary()
    try:
        with Journal.open(folder, partial(datetime.now, UTC), read_only=True) as journal:
            for event in journal.read():
                _take(said, event.data)
            if journal.size < journal.path.stat().st_size:
                said.note = "its last line is cut off"
    except (JournalError, OSError) as error:
        said.note = str(error)
    return said


def _take(said: RolloutSummary, data: events.Data) -> None:
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
    """The first line of a prompt, made short."""
    line = next((line for line in prompt.splitlines() if line.strip()), "")
    shown = "".join(char if char.isprintable() else " " for char in line.strip())
    return shown if len(shown) <= _TITLE else shown[: _TITLE - 1] + "…"
