"""What sessions ask of memories: `MemoryPort` over the files and the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold.memories import citations, reading
from pinfold.memories.places import GIT, MEMORY, RAW, SKILLS, SUMMARIES, SUMMARY, MemoryPlaces
from pinfold.memories.records import StateError
from pinfold.memories.session_folders import SessionFolders
from pinfold.memories.statements import Citation, cited
from pinfold.ports.memories import CutReply, MemoryFailure
from pinfold.rollout.events import MemoryUsed
from pinfold.rollout.memory import MemoryCited, MemoryFile
from pinfold.small_files import read_text

if TYPE_CHECKING:
    from pinfold.memories.state import MemoriesState
    from pinfold.memories.team.teams import Teams

_KINDS: dict[str, MemoryFile] = {
    MEMORY: "MEMORY.md",
    SUMMARY: "summary",
    RAW: "raw",
    f"{SUMMARIES}/": "rollout_summary",
    f"{SKILLS}/": "skill",
}
"""By the name of a file, or of the folder that it is in."""
_MOST_LINES = 200
"""Lines of one citation that are searched for sources."""
TEAM_SHARE = 1 / 3
"""Share of a session's memories that a team's lines may take."""


@contextmanager
def _plainly() -> Iterator[None]:
    """Raise `MemoryFailure` with a sentence for the user."""
    try:
        yield
    except StateError as error:
        raise MemoryFailure(str(error)) from error
    except OSError as error:
        raise MemoryFailure(f"Memories can't be read: {error.strerror or error}.") from error


class MemoryReader:
    """The memories in pinfold's home. Every function may block."""

    def __init__(self, home: Path, now: Callable[[], datetime], teams: Teams | None = None) -> None:
        self.folder = MemoryPlaces.of(home).files
        self.home = home
        self._now = now
        self._teams = teams
        self._notice = ""

    @cached_property
    def state(self) -> MemoriesState:
        """The database. Raises `StateError`."""
        from pinfold.memories.state import MemoriesState  # SQLAlchemy takes its time

        return MemoriesState(self.home, self._now)

    def close(self) -> None:
        if "state" in self.__dict__:
            self.state.close()

    # What a session is told

    def front(self, cwd: Path, most: int, count: Callable[[str], int]) -> str:
        team = ""
        with _plainly():
            if self._teams is not None:
                team, self._notice = self._teams.front(cwd, int(most * TEAM_SHARE), count)
            chosen = self._private(cwd, most - count(team) if team else most, count)
        if not (chosen or team):
            return ""
        return "\n\n".join(filter(None, (reading.front(chosen, self.folder), team)))

    def notice(self) -> str:
        said, self._notice = self._notice, ""
        return said

    def _private(
        self, cwd: Path, most: int, count: Callable[[str], int]
    ) -> list[reading.MemoryLine]:
        try:
            every = reading.lines(read_text(self.folder / SUMMARY, reading.MAX_BYTES))
        except FileNotFoundError:
            return []
        sources = self.sources()
        fresh = [line for line in every if not line.unconfirmed and not sources.stale(line)]
        return reading.select(fresh, cwd, most, count)

    def sources(self) -> reading.CitedSources:
        """The sources of memories as they are now. Raises `StateError`."""
        sessions = SessionFolders(self.home, self.state.outputs())
        return reading.CitedSources(sessions.folder, set(self.state.confirmed()))

    # What a reply cites

    def cut(self, reply: str) -> CutReply | None:
        return citations.cut(reply)

    def shown(self, streamed: str) -> int:
        return citations.shown(streamed)

    def cited(self, cut: CutReply) -> MemoryUsed:
        with _plainly():
            sessions = SessionFolders(self.home, self.state.outputs())
        sources: dict[str, None] = {}
        named: dict[str, None] = {}
        there: list[MemoryCited] = []
        for place in cut.cited:
            text = self._lines(place.path, place.first, place.last)
            there += [place] if text.strip() else []
            for source in cited(text):
                if whole := sessions.whole(source.session):
                    sources[str(Citation(whole, source.item))] = None
                    named[whole] = None
        for given in cut.sessions:
            if whole := sessions.whole(given):
                named[whole] = None
        return MemoryUsed(
            item=0,
            via="citation",
            cited=tuple(there),
            sources=tuple(sources)[: citations.MOST],
            sessions=tuple(named),
        )

    def _lines(self, path: str, first: int, last: int) -> str:
        """Lines of a memory file; empty for any other file."""
        try:
            real = (self.folder / path).resolve()
            if self.kind(real) is None:
                return ""
            found = read_text(real, reading.MAX_BYTES).split("\n")
        except (OSError, RuntimeError, ValueError):
            return ""
        return "\n".join(found[first - 1 : min(last, first + _MOST_LINES - 1)])

    def count_use(self, sessions: Sequence[str], at: datetime) -> None:
        with _plainly():
            self.state.count_use(sessions, at)

    # What a tool reads

    def kind(self, path: Path) -> tuple[MemoryFile, str] | None:
        folder = self.folder.resolve()
        if not path.is_relative_to(folder) or path == folder:
            return None
        name = path.relative_to(folder).as_posix()
        first, slash, _ = name.partition("/")
        return None if first + slash == f"{GIT}/" else (_KINDS.get(first + slash, "other"), name)
