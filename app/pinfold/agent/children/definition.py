"""What an agent is, what opens a session for one, and what its parent sees of that session."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pinfold.agent.children.race_folders import RaceFolders
from pinfold.agent.requests.connection import Connection
from pinfold.agent.turn.budget import Budget
from pinfold.agent.turn.ending import Ending
from pinfold.agent.updates import Phase, Update
from pinfold.ports.approver import Approver
from pinfold.ports.tool import ToolError
from pinfold.rollout.events import Event
from pinfold.rollout.journal import Journal
from pinfold.settings import Mode

MOST = 4
"""Agents that work at the same time."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A kind of agent."""

    name: str = ""
    description: str = ""
    """When to use it, for the model that does."""
    prompt: str = ""
    """The text before its task."""
    tools: tuple[str, ...] | None = None
    """Names of those that it has; None is all."""
    model: str | None = None
    """As `/model` takes it; None is that of the session that starts it."""
    approvals: Mode = "full"
    """Never wider than those of the session that starts it."""
    worktree: bool = False
    """Whether it always works in its own Git worktree."""
    source: str = ""
    """The file that defines it, as shown to people; empty for pinfold's own."""
    notes: tuple[str, ...] = ()
    """What in its file has no effect, one sentence each."""


@dataclass(frozen=True, slots=True)
class Order:
    """What an agent's session is opened with."""

    journal: Callable[[], Journal]
    agent: Agent
    ceiling: Callable[[], Mode]
    """The approvals of the session that starts it, as they are now."""
    budget: Budget
    """Shared with that session."""
    approver: Approver
    connection: Connection
    """Lent by that session."""
    inherited: Callable[[], Collection[str]] = tuple
    """The tools of servers that the user always allows in that session."""
    cwd: Path | None = None
    """Where it works; None is the folder of the session that starts it."""


class ChildSession(Protocol):
    """An agent's session, as the one that starts it sees it."""

    opened_after: int
    """The last event before this opening."""

    @property
    def phase(self) -> Phase: ...

    def subscribe(self, listener: Callable[[Update], None]) -> Callable[[], None]:
        """Hear every update from now on. Returns how to stop."""
        ...

    def send(self, text: str, pasted: Sequence[tuple[int, int]] = ()) -> Awaitable[Ending]:
        """Start a turn with `text`, of which the user did not type the spans in `pasted`."""
        ...

    async def compact(self, strategy: str) -> object:
        """Raises `Refused`, `JournalError`."""
        ...

    def set_approvals(self, mode: str) -> None: ...

    def interrupt(self) -> None: ...

    async def idle(self) -> None: ...

    async def events(self) -> Sequence[Event]:
        """Oldest first. Raises `JournalError`."""
        ...

    async def close(self) -> None: ...


class Worktrees(Protocol):
    """Git worktrees for agents."""

    async def make(self, name: str) -> Path:
        """The folder to work in, in a new worktree at the last commit. Raises `ToolError`."""
        ...

    async def leave(self, name: str) -> str:
        """Remove it where it holds nothing new; where it stays otherwise, and empty if it does
        not. Raises `ToolError`."""
        ...


@dataclass(frozen=True, slots=True)
class Agents:
    """The agents that a session may start."""

    open: Callable[[Order], Awaitable[ChildSession]]
    """Raises what opening a session raises."""
    known: Mapping[str, Agent] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    """Why files don't define an agent, one sentence each."""
    most: int = MOST
    worktrees: Worktrees | None = None
    races: RaceFolders | None = None


async def no_agents(order: Order) -> ChildSession:
    """Where none may be started."""
    raise ToolError(f"{order.agent.name or 'An agent'} can't be started here.")
