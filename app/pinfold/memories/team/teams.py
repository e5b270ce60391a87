"""A user's teams: reading, listing, sharing and forgetting their lines.

The database's driver is imported only when it is used.
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
"""Longest time that a new session waits to learn what was forgotten."""
LATER = "An offline machine keeps its copy until it next connects."
_AGAIN = 60.0
"""Seconds before a database that did not answer is asked again for a new session."""
_MINE = 3.0
"""Seconds for a question when the user waits."""


class Teams:
    """Every function blocks."""

    def __init__(self, home: Path, every: Sequence[Team], url: str | None) -> None:
        self.every = tuple(every)
        self._home = home
        self._url = url
        self._copies = {team.name: TeamCopy(home, team) for team in every}
        self._failed_at: float | None = None
        self._noted = home / "memories-work" / TEAMS / "offline"

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

    def front(self, cwd: Path, most: int, count: Callable[[str], int]) -> tuple[str, str]:
        """What a session in `cwd` is told of its teams, after removing what was forgotten; and a
        sentence for the user, or empty. Raises `OSError`."""
        here = [copy for copy in self.copies if _is_in(cwd, copy.team)]
        if not here:
            return "", ""
        note = self._bury(here)
        texts = [copy.front(cwd, most, count) for copy in here]
        return "\n\n".join(filter(None, texts)), note

    def _bury(self, copies: Sequence[TeamCopy]) -> str:
        """Remove what was forgotten. Returns why that failed, but says so only once."""
        if self._failed_at is not None and time.monotonic() - self._failed_at < _AGAIN:
            return ""
        result: list[Exception | None] = []

        def ask() -> None:
            from pinfold.memories.team import pulling

            try:
                with self.server(FRONT_SECONDS) as server:
                    pulling.bury(server, copies)
                result.append(None)
            except Exception as error:  # returned to the caller
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
        """A sentence about a database that can't be used; empty if it was said before."""
        if self._noted.exists():
            return ""
        with suppress(OSError):
            make_folder(self._noted.parent.parent)
            make_folder(self._noted.parent)
            write_atomic(self._noted, b"")
        return f"{_sentence(error)} pinfold continues with what it last pulled."

    def _reached(self) -> None:
        self._failed_at = None
        with suppress(OSError):
            self._noted.unlink(missing_ok=True)

    def pull(self, now: Callable[[], float]) -> None:
        """Bring the copies up to date in at most 2 s. Raises `StateError`, `OSError`,
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
        """Share and pull. Returns a sentence on the result. Pulling may take `seconds`."""
        from pinfold.memories.team.syncing import Sync

        try:
            with self.server(max(seconds, _MINE)) as server:
                done = Sync(self._home, self.every, server, state).run(now, seconds, force=force)
        except (StateError, MemoriesRefused, OSError) as error:
            return _sentence(error)
        self._reached()
        return f"Team: {done}"

    def facts(self) -> dict[str, str]:
        """Facts about the database, for `doctor`. Raises `StateError`."""
        with self.server(_MINE) as server:
            with server.transaction() as conn:
                found = server.access(conn, [team.name for team in self.every])
            return {"team database": server.shown, "team role": server.role, **found}

    def shares(self, sessions: Collection[str]) -> list[str]:
        """The names of the teams that have lines of these sessions."""
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
        """Delete our lines of these sessions for everybody. Returns what to tell the user."""
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
        """Forget someone else's line: for everybody if we own the team, else for us. Returns what
        to tell the user. Raises `StateError`."""
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
        return self._copies[name].read().owns

    def clear(self) -> None:
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
