"""A user's teams: reading, listing, sharing and forgetting their lines.

The database's driver is imported when the database is asked, never before.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold.atomic_files import failure, make_folder, write_atomic
from pinfold.memories.places import MemoriesRefused
from pinfold.memories.records import StateError
from pinfold.memories.team.copy import TEAMS, TeamCopy
from pinfold.memories.team.sharing import Team

if TYPE_CHECKING:
    from pinfold.memories.state import MemoriesState
    from pinfold.memories.team.server import TeamDatabase

FRONT_SECONDS = 2.0
"""That a new session waits at most to hear what was forgotten."""
LATER = "An offline machine keeps its copy until it next connects."
_AGAIN = 60.0
"""Seconds after which a database that did not answer is asked again for a session's front."""
_MINE = 3.0
"""Seconds for what the user waits for."""


class Teams:
    """Every function blocks."""

    def __init__(self, home: Path, every: Sequence[Team], url: str | None) -> None:
        self.every = tuple(every)
        self._home = home
        self._url = url
        self._copies = {team.name: TeamCopy(home, team) for team in every}
        self._failed_at: float | None = None
        self._told = home / "memories-work" / TEAMS / "offline"

    @property
    def copies(self) -> list[TeamCopy]:
        return list(self._copies.values())

    @contextmanager
    def server(self, timeout: float) -> Iterator["TeamDatabase"]:
        """The database. Raises `StateError`."""
        if not self._url:
            raise StateError("[memories] database is not set: teams have nowhere to share.")
        from pinfold.memories.team.server import TeamDatabase

        server = TeamDatabase(self._url, timeout=timeout)
        try:
            yield server
        finally:
            server.close()

    # What sessions read

    def front(self, cwd: Path, most: int, count: Callable[[str], int]) -> tuple[str, str]:
        """What a session in `cwd` is told of its teams, what was forgotten taken out first; and a
        sentence for the user, empty where there is none. Raises `OSError`."""
        here = [copy for copy in self.copies if _is_in(cwd, copy.team)]
        if not here:
            return "", ""
        note = self._bury(here)
        texts = [copy.front(cwd, most, count) for copy in here]
        return "\n\n".join(filter(None, texts)), note

    def _bury(self, copies: Sequence[TeamCopy]) -> str:
        """Ask what was forgotten, for `FRONT_SECONDS` at most; why not, the first time."""
        if self._failed_at is not None and time.monotonic() - self._failed_at < _AGAIN:
            return ""
        result: list[Exception | None] = []

        def ask() -> None:
            from pinfold.memories.team import pulling

            try:
                with self.server(FRONT_SECONDS) as server:
                    pulling.bury(server, copies)
                result.append(None)
            except Exception as error:  # shown by who asks
                result.append(error)

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(FRONT_SECONDS)
        error = result[0] if result else StateError("The team's database does not answer.")
        if error is None:
            self._reached()
            return ""
        self._failed_at = time.monotonic()
        return self._unreached(error)

    def _unreached(self, error: Exception) -> str:
        """A sentence for a database that can't be used; empty where it was said before."""
        if self._told.exists():
            return ""
        with suppress(OSError):
            make_folder(self._told.parent.parent)
            make_folder(self._told.parent)
            write_atomic(self._told, b"")
        return f"{_sentence(error)} pinfold continues with what it last pulled."

    def _reached(self) -> None:
        self._failed_at = None
        with suppress(OSError):
            self._told.unlink(missing_ok=True)

    # Sharing

    def pull(self, now: Callable[[], float]) -> None:
        """Bring the copies up to date, in 2 s at most. Raises `StateError`, `OSError`,
        `MemoriesRefused`."""
        from pinfold.memories.team import pulling

        with self.server(pulling.SECONDS) as server:
            pulling.pull_all(server, self.copies, now, pulling.SECONDS)
        self._reached()

    def sync(
        self,
        state: "MemoriesState",
        now: Callable[[], float],
        seconds: float,
        *,
        force: bool = False,
    ) -> str:
        """Share and pull; what came of it, in a sentence. `seconds` are what pulling may take."""
        from pinfold.memories.team.syncing import Sync

        try:
            with self.server(max(seconds, _MINE)) as server:
                done = Sync(self._home, self.every, server, state).through(
                    now, seconds, force=force
                )
        except (StateError, MemoriesRefused, OSError) as error:
            return _sentence(error)
        self._reached()
        return f"Team: {done}"

    def look(self) -> dict[str, str]:
        """What is to be said of the database, for `doctor`. Raises `StateError`."""
        with self.server(_MINE) as server:
            with server.transaction() as conn:
                found = server.look(conn, [team.name for team in self.every])
            return {"team database": server.shown, "team role": server.role, **found}

    # Forgetting

    def shares(self, sessions: Collection[str]) -> list[str]:
        """The teams with which lines of these sessions are shared."""
        return [
            copy.team.name
            for copy in self.copies
            if any(f"{session}#" in line for line in copy.shared() for session in sessions)
            or any(
                line.session in sessions and line.owner == have.role
                for have in [copy.read()]
                for line in have.lines
            )
        ]

    def forget_sessions(self, sessions: Collection[str]) -> str:
        """Delete our lines of these sessions for everybody; what to add to the confirmation."""
        if not (names := self.shares(sessions)):
            return ""
        whose = " and ".join(names)
        from pinfold.memories.team import pulling
        from pinfold.memories.team.syncing import forget_sessions

        try:
            with self.server(_MINE) as server:
                with server.transaction() as conn:
                    forget_sessions(conn, list(sessions))
                pulling.bury(server, self.copies)
        except StateError:
            for copy in self.copies:
                have = copy.read()
                copy.bury([], [line.id for line in have.lines if line.session in sessions])
            return f"In {whose} it will be forgotten once the database can be reached."
        return f"It is forgotten in {whose} too, for everybody. {LATER}"

    def forget_line(self, name: str, line: str) -> str:
        """Forget a line of another: for everybody where we own the team, else for us. Raises
        `StateError`."""
        copy = self._copies[name]
        if not copy.read().owns:
            copy.bury([], [line])
            return "Forgotten for you: sessions here no longer see it."
        from pinfold.memories.team import pulling

        with self.server(_MINE) as server:
            pulling.forget(server, name, line)
            pulling.bury(server, [copy])
        return f"Forgotten for everybody in {name}. {LATER}"

    def owns(self, name: str) -> bool:
        """Whether we may forget any line of the team."""
        return self._copies[name].read().owns

    def clear(self) -> None:
        """Remove the copies."""
        for copy in self.copies:
            copy.drop()


def _is_in(cwd: Path, team: Team) -> bool:
    try:
        return cwd.resolve().is_relative_to(team.folder)
    except (OSError, RuntimeError):
        return False


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        return failure(Path("memories"), error)
    if isinstance(error, (StateError, MemoriesRefused)):
        return str(error)
    return f"The team's database can't be used: {type(error).__name__}."
