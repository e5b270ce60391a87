"""What an agent is, and what it takes to open a session for one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pinfold.ports.tool import ToolError
from pinfold.settings import Mode

if TYPE_CHECKING:
    from pinfold.agent.children.race_folders import RaceFolders
    from pinfold.agent.options import Options
    from pinfold.agent.requests.connection import Connection
    from pinfold.agent.session import Session
    from pinfold.agent.turn.budget import Budget
    from pinfold.ports.approver import Approver
    from pinfold.rollout.journal import Journal

MOST = 4
"""Agents that work at the same time."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A kind of agent."""

    name: str = ""
    description: str = ""
    """When to use it, for the model that does."""
    prompt: str = ""
    """What it reads before its task."""
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
    """Lent: closing it does nothing."""
    inherited: Callable[[], Collection[str]] = tuple
    """The tools of servers that the user always allows in that session."""
    cwd: Path | None = None
    """Where it works; None is the folder of the session that starts it."""

    def bind(self, options: Options) -> Options:
        """The options of the agent's session, where the parent's are `options`."""
        return replace(
            options,
            approvals=self.agent.approvals,
            ceiling=self.ceiling,
            inherited=self.inherited,
            budget=self.budget,
            auto="auto" if options.auto == "ask" else options.auto,
            agents=None,
        )


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

    open: Callable[[Order], Awaitable[Session]]
    """Raises what opening a session raises."""
    known: Mapping[str, Agent] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    """Why files don't define an agent, one sentence each."""
    most: int = MOST
    worktrees: Worktrees | None = None
    races: RaceFolders | None = None


async def no_agents(order: Order) -> Session:
    """Where none may be started."""
    raise ToolError(f"{order.agent.name or 'An agent'} can't be started here.")
