"""Sharing with teams: delete what was forgotten, publish what is new, pull what others shared.

Every function blocks. If a process dies between any two steps, the next one continues: its jobs are
claimed again once their leases have ended, and each transaction leaves the database consistent.
"""

import secrets
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from sqlalchemy import Connection, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from pinfold.atomic_files import write_atomic
from pinfold.memories import source
from pinfold.memories.leases import LEASE
from pinfold.memories.reading import CitedSources, MemoryLine
from pinfold.memories.records import Output, StateError
from pinfold.memories.session_folders import SessionFolders
from pinfold.memories.statements import parse
from pinfold.memories.team import pulling
from pinfold.memories.team.choosing import choose
from pinfold.memories.team.claims import Claims, finish
from pinfold.memories.team.copy import TeamCopy
from pinfold.memories.team.publishing import Published, echoed, hash_of, input_of, published
from pinfold.memories.team.server import TeamDatabase, Unreachable, code_of
from pinfold.memories.team.sharing import Team, team_of
from pinfold.memories.team.tables import jobs, lines, quotes, revision_lines, revisions
from pinfold.memories.team.values import Picked, TeamClaim
from pinfold.rollout.journal import JournalError

if TYPE_CHECKING:
    from pinfold.memories.state import MemoriesState

AT_ONCE, MOST = 8, 1_000
"""Sessions claimed at once; `MOST` when the user waits."""
_RACED = ("23503", "PF001", "PF002", "42501")
"""Error codes of a revision that came too late: a line was forgotten, the lease lost, or the parent
replaced."""


class Synced(Struct, frozen=True):
    """The outcome of a sync."""

    sent: int = 0
    """Lines that were shared."""
    left_out: int = 0
    """Lines of these sessions that may not leave, or that their quotes do not support."""
    have: int = 0
    """Lines in the copies."""

    def __str__(self) -> str:
        said = f"{self.sent:,} lines shared" if self.sent else "Nothing new to share"
        left = f", {self.left_out:,} kept private" if self.left_out else ""
        return f"{said}{left}; {self.have:,} lines of the team are here."


class Sync:
    """One machine's part. Raises `StateError`, `OSError`, `MemoriesRefused`."""

    def __init__(
        self,
        home: Path,
        teams: Sequence[Team],
        server: TeamDatabase,
        state: "MemoriesState",
        *,
        lease: float = LEASE,
    ) -> None:
        self._home = home
        self._teams = teams
        self._names = list(dict.fromkeys(team.name for team in teams))
        self._server = server
        self._state = state
        self._host = installation(home)
        self.claims = Claims(server, self._host, lease)
        self._copies = {team.name: TeamCopy(home, team) for team in teams}

    def run(self, now: Callable[[], float], seconds: float, *, force: bool = False) -> Synced:
        """All steps. Pulling may take `seconds`; `force` does not wait after failures."""
        with self._server.transaction() as conn:
            self._server.access(conn, self._names)
        self.forget()
        self.queue()
        sent, left_out = self.publish(force=force)
        self.mark_stale()
        self.consolidate(force=force)
        have = pulling.pull_all(self._server, self.copies, now, seconds)
        return Synced(sent, left_out, have)

    @property
    def copies(self) -> list[TeamCopy]:
        return list(self._copies.values())

    def forget(self) -> None:
        """Delete for everybody what was forgotten here."""
        if gone := self._state.forgotten():
            with self._server.transaction() as conn:
                forget_sessions(conn, gone)

    def queue(self) -> None:
        for name, some in self._records_by_team().items():
            self.claims.queue(
                name, {row.session_id: input_of(team, row) for row, team in some.values()}
            )

    def _records_by_team(self) -> dict[str, dict[str, tuple[Output, Team]]]:
        found: dict[str, dict[str, tuple[Output, Team]]] = {name: {} for name in self._names}
        for row in self._state.outputs():
            if (team := team_of(row.cwd, self._teams)) is not None:
                found[team.name][row.session_id] = (row, team)
        return found

    def publish(self, *, force: bool = False) -> tuple[int, int]:
        """Publish what is queued. Returns how many lines were shared, and how many may not be."""
        sent = left_out = 0
        # `force` counts once, so that sessions that fail again are not tried a third time.
        claims = self.claims.claim("publish", self._names, MOST if force else AT_ONCE, force=force)
        while claims:
            for claim in claims:
                more, others = self.publish_one(claim)
                sent, left_out = sent + more, left_out + others
            claims = self.claims.claim("publish", self._names, AT_ONCE)
        return sent, left_out

    def publish_one(self, claim: TeamClaim) -> tuple[int, int]:
        """Publish the lines of one session and end its job. Returns the same."""
        every = {
            key: pair for some in self._records_by_team().values() for key, pair in some.items()
        }
        row, team = every.get(claim.key, (None, None))
        if row is None or team is None:  # forgotten, or no longer shared
            self.claims.drop(claim)
            return 0, 0
        try:
            folder = SessionFolders(self._home, [row]).path(row.session_id)
            said = source.read(folder) if folder else None
            echoes = echoed(folder) if folder else frozenset()
            found, left_out = published(team, self._server.role, row, said, echoes)
            # Before they leave: even if interrupted, what is shared must show as shared.
            shared = {publication.private: publication.line.id for publication in found}
            self._copies[team.name].note_shared(row.session_id, shared)
        except (JournalError, OSError) as error:
            self.claims.fail(claim, type(error).__name__)  # its message may contain a path
            return 0, 0
        try:
            with self._server.transaction() as conn:
                if not finish(conn, claim):
                    return 0, 0
                _put(conn, team, self._host, row.session_id, found)
        except Unreachable:
            raise
        except StateError:
            self.claims.fail(claim, "the database refused it")
            return 0, 0
        return len(found), left_out

    def mark_stale(self) -> None:
        """Mark our lines that may be out of date."""
        sessions = SessionFolders(self._home, self._state.outputs())
        sources = CitedSources(sessions.folder, set(self._state.confirmed()))
        for copy in self.copies:
            private = {key: line for line, key in copy.shared().items()}
            if not private:
                continue
            ours = (lines.c.team == copy.team.name, lines.c.id.in_(list(private)))
            with self._server.transaction() as conn:
                fresh = []
                for row in conn.execute(select(lines.c.id, lines.c.stale).where(*ours)).all():
                    line = private[row.id]
                    why = sources.stale(MemoryLine(0, line, statement=parse(line)))
                    if why != row.stale:
                        one = (lines.c.team == copy.team.name, lines.c.id == row.id)
                        conn.execute(update(lines).where(*one).values(stale=why))
                    fresh += [] if why else [row.id]
                _rehash(conn, copy.team, fresh)

    def consolidate(self, *, force: bool = False) -> None:
        """Write new revisions of teams whose lines have changed, unless another machine does."""
        for claim in self.claims.claim("consolidate", self._names, len(self._names), force=force):
            self.consolidate_one(claim)

    def consolidate_one(self, claim: TeamClaim) -> bool:
        """Write one revision; False if it came too late."""
        team = claim.key
        with self._server.transaction() as conn:
            newest = select(func.max(revisions.c.number)).where(revisions.c.team == team)
            parent = conn.scalar(newest) or 0
            every = pulling.read_lines(conn, team)
        checked = [found for line in every if (found := pulling.check(line)) is not None]
        try:
            self.revise(claim, parent, choose(checked))
        except StateError as error:
            if code_of(error) not in _RACED:
                raise
            self.claims.release([claim])
            return False
        return True

    def revise(self, claim: TeamClaim, parent: int, chosen: Sequence[Picked]) -> None:
        """Store a revision after `parent` and end the job."""
        with self._server.transaction() as conn:
            number = parent + 1
            conn.execute(
                revisions.insert().values(
                    team=claim.key, number=number, parent=parent, input=claim.input
                )
            )
            rows = [
                {"team": claim.key, "number": number, "file": p.file, "place": at, "line": p.line}
                for at, p in enumerate(chosen)
            ]
            if rows:
                conn.execute(revision_lines.insert(), rows)
            finish(conn, claim)


def _put(conn: Connection, team: Team, host: str, session: str, found: list[Published]) -> None:
    """Replace the lines of a session; those that are not among them are withdrawn."""
    conn.execute(text("SET LOCAL pinfold.withdraw = 'on'"))
    ids = [publication.line.id for publication in found]
    conn.execute(
        delete(lines).where(
            lines.c.session == session,
            lines.c.owner == func.current_user(),
            lines.c.id.not_in(ids) | (lines.c.team != team.name),
        )
    )
    if not found:
        return
    put = insert(lines).on_conflict_do_nothing().returning(lines.c.id)
    rows = [
        {"team": team.name, "host": host, "session": session, "folder": line.folder}
        | {"said": line.text}
        for line in (publication.line for publication in found)
    ]
    fresh = set(conn.scalars(put, rows))  # neither there nor forgotten
    said = [
        {"team": team.name, "line": publication.line.id, "cite": quote.cite, "said": quote.text}
        | {"file": quote.file, "file_hash": quote.file_hash}
        for publication in found
        if publication.line.id in fresh
        for quote in publication.line.quotes
    ]
    if said:
        conn.execute(quotes.insert(), said)


def _rehash(conn: Connection, team: Team, changed: Collection[str]) -> None:
    """Update the hashes of files that changed but still contain the quote."""
    ours = (quotes.c.team == team.name, quotes.c.line.in_(changed), quotes.c.file != "")
    for row in conn.execute(select(quotes).where(*ours)).all():
        if (found := hash_of(team.root / row.file)) != row.file_hash:
            this = (quotes.c.line == row.line, quotes.c.cite == row.cite)
            conn.execute(update(quotes).where(*ours, *this).values(file_hash=found))


def forget_sessions(conn: Connection, sessions: Sequence[str]) -> int:
    """Delete our lines of these sessions for everybody. Returns how many there were."""
    own = (lines.c.session.in_(sessions), lines.c.owner == func.current_user())
    gone = conn.execute(delete(lines).where(*own)).rowcount
    conn.execute(
        delete(jobs).where(
            jobs.c.kind == "publish",
            jobs.c.key.in_(sessions),
            jobs.c.owner == func.current_user(),
        )
    )
    return int(gone)


def installation(home: Path) -> str:
    """A random id of this installation, which reveals nothing about the machine."""
    path = home / "installation-id"
    if not path.exists():
        made = home / f"installation-id.{secrets.token_hex(4)}.tmp"
        write_atomic(made, secrets.token_hex(16).encode())
        with suppress(FileExistsError):  # another process was faster
            path.hardlink_to(made)
        made.unlink()
    return path.read_text(encoding="ascii").strip()
