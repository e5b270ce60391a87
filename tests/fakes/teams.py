"""Machines that share memories with a team: each with its home, its role and its sessions."""

from datetime import UTC, datetime
from pathlib import Path

from fakes.digests import Make, asked, called, replied
from fakes.postgres import Postgres
from fakes.sessions import ticking
from pinfold.memories.leases import LEASE
from pinfold.memories.offline import offline
from pinfold.memories.reader import MemoryReader
from pinfold.memories.records import SessionCandidate
from pinfold.memories.source import read
from pinfold.memories.state import MemoriesState
from pinfold.memories.team.copy import TeamCopy
from pinfold.memories.team.server import TeamDatabase
from pinfold.memories.team.sharing import Team
from pinfold.memories.team.syncing import Sync
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.store import SessionStore

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEAM = "payments"


class Machine:
    """A user's pinfold. `clock` is what its own clock says."""

    def __init__(
        self,
        root: Path,
        role: str,
        server: Postgres,
        database: str,
        *,
        clock: datetime = NOW,
        lease: float = LEASE,
    ) -> None:
        self.home = root / "home"
        self.repository = root / "work" / "payments"
        (self.repository / ".git").mkdir(parents=True, exist_ok=True)
        self.private = root / "work" / "private"
        self.private.mkdir(exist_ok=True)
        self.team = Team(TEAM, self.repository, self.repository)
        self.role = role
        self.clock = clock
        self.state = MemoriesState(self.home, lambda: self.clock)
        self.server = TeamDatabase(server.url(role, database), {})
        self.sync = Sync(self.home, [self.team], self.server, self.state, lease=lease)

    @property
    def copy(self) -> TeamCopy:
        (copy,) = self.sync.copies
        return copy

    @property
    def lines(self) -> dict[str, str]:
        """What its copy has: the owner by the text."""
        return {
            line.statement.text: line.owner
            for line in self.copy.read().by_id.values()
            if line.statement
        }

    def worked(
        self,
        *said: str,
        cwd: Path | None = None,
        command: str = "make test",
        file: str = "limits.py",
    ) -> str:
        """A session in which the user said this, remembered without a model; its id."""
        cwd = cwd or self.repository
        (cwd / file).parent.mkdir(parents=True, exist_ok=True)
        (cwd / file).write_text("LIMIT = 60\n")
        return self.session(
            *map(asked, said),
            called("command", "12 passed", command=command, exit_code=0),
            called("command", "12 passed", command=command, exit_code=0),
            called("edit", "edited", paths=[file], diff="@@\n-LIMIT = 40\n+LIMIT = 60"),
            replied(f"Raised the limit in {file} from 40 to 60; {command} passes."),
            cwd=cwd,
        )

    def session(self, *makes: Make, cwd: Path | None = None) -> str:
        """Any session, remembered without a model."""
        cwd = cwd or self.repository
        with SessionStore(self.home).create(cwd, "0", ticking(), "shell") as journal:
            n = 1
            for make in makes:
                some = make(n)
                n += sum(isinstance(event, ItemAdded) for event in some)
                journal.append(*some)
        found = SessionCandidate(
            journal.folder.name, str(journal.path), str(cwd), journal.path.stat().st_mtime
        )
        (claim,) = self.state.claim_sessions([found], 1)
        made = offline(read(journal.folder))
        assert self.state.finish_extracted(claim, found, made.extracted)
        return journal.folder.name

    def through(self, seconds: float = 30.0) -> str:
        return str(self.sync.run(self.clock.timestamp, seconds))

    def reader(self) -> MemoryReader:
        return MemoryReader(self.home, lambda: self.clock)

    def close(self) -> None:
        self.state.close()
        self.server.close()
