"""Opens an agent's session, prompts it, reads its reply and closes it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace as changed
from functools import partial

from pinfold.agent.calls.approvals import Consent
from pinfold.agent.children.child import Child, folder_of
from pinfold.agent.children.definition import Agent, Agents, ChildSession, Order
from pinfold.agent.children.reply import LAST_REPLY
from pinfold.agent.record import Record
from pinfold.agent.requests.connection import Connection
from pinfold.agent.turn.budget import Budget
from pinfold.agent.turn.ending import Ending
from pinfold.agent.updates import Told, Update
from pinfold.ports.approver import Approver
from pinfold.ports.clock import Clock
from pinfold.ports.errors import ProviderError
from pinfold.ports.tool import SERVERS, ToolError
from pinfold.rollout import forks, provenance
from pinfold.rollout.events import SCHEMA, ChildStarted, Event, SessionStarted
from pinfold.rollout.journal import Journal, JournalError
from pinfold.window.refused import Refused

BRIEF = """\
You are an agent working for another agent, which gave you the task below. Only your last message \
is read: it goes back to that agent. Put everything that agent needs into it, with paths \
and line numbers, in at most {} tokens."""
WORKTREE = """\
You work in {}, your own Git worktree, created from the last commit: it does not have what is \
uncommitted in the folder of the agent you work for. Your changes stay in it for that agent."""
RACER = """\
(From pinfold: you work in {}, a copy of the folder as it was, with all that was not committed. \
Change nothing outside it.)"""
FAILURES = (ProviderError, JournalError, ToolError, OSError, ValueError)
"""Errors whose message explains why an agent failed."""


@dataclass(eq=False)
class Conversing:
    _record: Record
    _clock: Clock
    _agents: Agents
    _consent: Consent
    _connection: Callable[[], Connection]
    _budget: Budget

    def agent(self, started: ChildStarted) -> Agent:
        agent = self._agents.known.get(started.agent) or Agent()
        return changed(agent, model=started.model) if started.model else agent

    async def run(
        self, child: Child, approver: Approver, hear: Callable[[Update], None]
    ) -> tuple[Ending, Sequence[Event]]:
        """How it ended, and its own events. Raises what opening a session raises."""
        if not child.started.worktree:
            return await self._in_session(child, approver, hear)
        if child.place is not None:
            child.line = "creates its folder"
            child.folder = await child.place(child.started.worktree)
            child.kept = str(child.folder)
            return await self._in_session(child, approver, hear)
        worktrees = self._agents.worktrees
        if worktrees is None:
            raise ToolError("Worktrees are not available here.")
        if self._consent.mode == "read-only":
            raise ToolError("Approvals are read-only: a worktree can't be created.")
        child.line = "creates a worktree"
        child.folder = await worktrees.make(child.started.worktree)
        try:
            return await self._in_session(child, approver, hear)
        finally:
            try:
                child.kept = await worktrees.leave(child.started.worktree)
            except FAILURES as error:
                child.kept = str(child.folder)
                self._record.tell(Told(f"Agent {child.name}: {error}", "error"))

    async def _in_session(
        self, child: Child, approver: Approver, hear: Callable[[Update], None]
    ) -> tuple[Ending, Sequence[Event]]:
        agent = self.agent(child.started)
        connection = self._connection()
        session = child.session = await self._agents.open(
            Order(
                journal=partial(self._journal, child),
                agent=agent,
                ceiling=lambda: self._consent.mode,
                inherited=lambda: {
                    name for name in self._record.state.prefixes if name.startswith(SERVERS)
                },
                budget=self._budget,
                approver=approver,
                connection=changed(connection, lent=True),
                cwd=child.folder,
            )
        )
        stop = session.subscribe(hear)
        try:
            try:
                ending = await self._prompted(session, child, agent)
            except Exception as error:  # what it did until then counts
                ending = failed(error)
            await session.idle()
            events = await session.events()
            return ending, [event for event in events if event.seq > session.opened_after]
        finally:
            stop()
            child.session = None
            try:
                await session.close()
            except FAILURES as error:
                self._record.tell(Told(f"Agent {child.name}: {error}", "error"))

    async def _prompted(self, session: ChildSession, child: Child, agent: Agent) -> Ending:
        if child.fork == "compacted" and not child.stopped:
            child.line = "compacts its fork of the window"
            with suppress(Refused):  # it may be as small as it gets
                await session.compact("checkpoint")
        if child.stopped:
            return Ending("interrupted")
        if child.started.race:
            where = f"\n\n{RACER.format(child.folder)}"
            said = (len(child.prompt), len(child.prompt + where))
            pasted = (*provenance.guess(child.prompt), said)
            return await session.send(child.prompt + where, pasted)
        where = WORKTREE.format(child.folder) if child.folder else ""
        parts = (BRIEF.format(f"{LAST_REPLY:,}"), where, agent.prompt, child.prompt)
        prompt = "\n\n".join(part for part in parts if part)
        return await session.send(prompt, ((0, len(prompt)),))  # nobody typed it

    def _journal(self, child: Child) -> Journal:
        """Its rollout: a new one, or a fork of this session's."""
        parent = self._record.journal
        folder = folder_of(parent, child.started)
        if child.fork != "none":
            forks.copy(
                parent.folder,
                folder,
                child.fork_at,
                self._clock.now,
                parent.started.id,
                str(child.folder) if child.folder else None,
            )
            return Journal.open(folder, self._clock.now)
        started = SessionStarted(
            schema=SCHEMA,
            id=child.started.session,
            cwd=str(child.folder) if child.folder else parent.started.cwd,
            version=parent.started.version,
            source="agent",
            parent=parent.started.id,
        )
        return Journal.create(folder, started, self._clock.now)


def failed(error: Exception) -> Ending:
    """How an agent that raised `error` has ended."""
    known = isinstance(error, (*FAILURES, Refused))
    return Ending("failed", str(error) if known else f"{type(error).__name__}: {error}")
