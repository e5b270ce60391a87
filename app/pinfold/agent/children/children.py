"""The agents of a session: started, watched, ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace as changed
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from pinfold.agent.calls.approvals import Consent
from pinfold.agent.children import news
from pinfold.agent.children.child import Child, end_line, folder_of, summed_up
from pinfold.agent.children.conversing import Conversing, failed
from pinfold.agent.children.definition import Agent, Agents
from pinfold.agent.children.hearing import LINE, heard
from pinfold.agent.children.past import PastAgent, events_of, last_words, past_of
from pinfold.agent.children.reply import LAST_REPLY, ChildReply, shortened
from pinfold.agent.children.status import ChildStatus, status_of
from pinfold.agent.record import Record
from pinfold.agent.requests.connection import Connection
from pinfold.agent.turn.budget import Budget
from pinfold.agent.turn.ending import Ending
from pinfold.agent.updates import (
    ChildChanged,
    Told,
    Update,
)
from pinfold.ports.approver import Approver, Decision, Question
from pinfold.ports.clock import Clock
from pinfold.ports.tool import ToolError
from pinfold.rollout.brought import items_of
from pinfold.rollout.events import (
    ChildFinished,
    ChildStarted,
    Event,
)
from pinfold.rollout.items import Item
from pinfold.rollout.journal import JournalError
from pinfold.sanitize import one_line
from pinfold.tokens.prices import Price, Spend

INTERRUPTED = "the turn that waited for it was interrupted"
CLOSED = "the session was closed"


class Children:
    """Starts agents, a few at a time, and journals how each ended."""

    def __init__(
        self,
        record: Record,
        clock: Clock,
        agents: Agents,
        consent: Consent,
        ask: Approver,
        connection: Callable[[], Connection],
        prices: Mapping[str, Price],
        budget: Budget,
    ) -> None:
        self._record = record
        self._clock = clock
        self._agents = agents
        self._ask = ask
        self._conversing = Conversing(record, clock, agents, consent, connection, budget)
        self._connection = connection
        self._budget = budget
        self._prices = prices
        self._problems = list(agents.problems)
        self._children: dict[int, Child] = {}
        self._working = 0
        self._freed = asyncio.Event()

    # What there is

    @property
    def known(self) -> Sequence[ChildStarted]:
        """All agents that were ever started, in order."""
        return list(self._record.state.children.values())

    @property
    def running(self) -> Sequence[Child]:
        return [child for child in self._children.values() if child.finished is None]

    @property
    def spends(self) -> Iterable[Spend]:
        """The spend of agents whose end is not journalled yet."""
        over = self._record.state.finished
        return (child.spend for n, child in self._children.items() if n not in over)

    def money(self, spend: Spend) -> float | None:
        """USD for tokens of this session or of its agents; None where a price is not known."""
        return spend.total(self._prices)

    def live(self, number: int) -> Child | None:
        """One that was started since the session was opened."""
        return self._children.get(number)

    def end(self, number: int) -> ChildFinished | None:
        """How it ended; None while it works."""
        return self._record.state.finished.get(number)

    def summary(self, number: int) -> str:
        """Its state in one line."""
        state = self._record.state
        if end := state.finished.get(number):
            return end_line(state.children[number], end, self._prices)
        child = self._children.get(number)
        return f"{child.line} · {child.tokens:,} tokens" if child else ""

    def status(self, number: int) -> ChildStatus | None:
        """The status of an agent; None if there is no such number."""
        state = self._record.state
        started, child = state.children.get(number), self._children.get(number)
        if started is None:
            return None
        seconds = self.seconds(child) if child is not None else 0.0
        return status_of(started, child, state.finished.get(number), seconds, self._prices)

    def seconds(self, child: Child) -> float:
        """Seconds that it has worked."""
        if child.finished is not None:
            return child.finished.seconds
        return self._clock.monotonic() - child.begun

    async def items(self, number: int) -> Sequence[Item]:
        """The items of its rollout. Raises `JournalError`."""
        started = self._record.state.children.get(number)
        if started is None:
            known = ", ".join(f"a{n}" for n in self._record.state.children) or "none"
            raise JournalError(f"There is no agent a{number}. There are: {known}.")
        return [item for event in await self.events(started) for item in items_of(event.data)]

    async def events(self, started: ChildStarted) -> Sequence[Event]:
        """The events of its rollout. Raises `JournalError`."""
        folder = self.folder(started)
        return await asyncio.to_thread(events_of, folder, self._clock)

    async def past(self, number: int) -> PastAgent:
        """An agent that has ended, from its rollout. Raises `JournalError`."""
        started = self._record.state.children[number]
        counter, connection = self._record.gauge.counter, self._connection()
        folder = self.folder(started)
        return await asyncio.to_thread(past_of, folder, self._clock, counter, connection)

    def folder(self, started: ChildStarted) -> Path:
        return folder_of(self._record.journal, started)

    @property
    def agents(self) -> Mapping[str, Agent]:
        return self._agents.known

    async def tell(self) -> None:
        """Before a request: tell the model what is new, and the user once which of their agent
        files can't be used. Raises `JournalError`."""
        while self._problems:
            self._record.warn(self._problems.pop(0))
        await news.tell(self._record, self._prices)

    # What happens to them

    async def start(
        self,
        started: ChildStarted,
        prompt: str,
        *,
        fork: str = "none",
        at: int | None = None,
        worktree: bool = False,
        place: Callable[[str], Awaitable[Path]] | None = None,
    ) -> Child:
        """Begin one; its number and its session's id are given here. `at` is the last item that a
        fork of the window has; `worktree` is whether it works in one of its own, which `place`
        makes, where it is given.

        Raises `ToolError`, `JournalError`.
        """
        from uuid6 import uuid7

        if started.agent and started.agent not in self._agents.known:
            known = ", ".join(self._agents.known) or "none"
            raise ToolError(f"There is no agent named {started.agent!r}. There are: {known}.")

        worktree = worktree or self._conversing.agent(started).worktree
        begun: list[ChildStarted] = []

        def make(_: int) -> list[ChildStarted]:
            number = max(self._record.state.children, default=0) + 1
            session = str(uuid7())
            name = f"a{number}-{session[-6:]}" if worktree else ""
            begun.append(replace(started, child=number, session=session, worktree=name))
            return begun

        if not self._record.state.turn_open and not self.running:
            self._budget.begin(self._record)  # the user starts it, beside any turn
        await self._record.add(make)
        child = Child(begun[0], self._clock.monotonic(), prompt, fork, at, place=place)
        self._children[child.number] = child
        self._tell(child)
        child.task = asyncio.create_task(self._work(child))
        return child

    def stop(self, number: int, why: str) -> None:
        """End an agent; its work so far is kept."""
        child = self._children.get(number)
        if child is None or child.finished is not None or child.stopped:
            return
        child.stopped = why
        self._freed.set()
        if child.session is not None:
            child.session.interrupt()

    async def result(self, child: Child) -> ChildReply:
        """Wait for its end; what its parent reads of it. Cancelling ends the agent, and returns its
        result so far."""
        assert child.task is not None
        try:
            await asyncio.shield(child.task)
        except asyncio.CancelledError:
            self.stop(child.number, INTERRUPTED)
            await child.task
        assert child.finished is not None
        return self._reply(child, child.finished)

    def _reply(self, child: Child, end: ChildFinished) -> ChildReply:
        head = end_line(child.started, end, self._prices)
        count = self._record.gauge.counter.count
        return shortened(head, child.answer, LAST_REPLY, count)

    def narrow(self) -> None:
        """Approvals changed: drop what the user allowed running agents."""
        for child in self.running:
            if child.session is not None:
                child.session.set_approvals(self._conversing.agent(child.started).approvals)

    async def close(self) -> None:
        """End all of them."""
        for child in self.running:
            self.stop(child.number, CLOSED)
            if child.task is not None:
                await child.task

    # The work

    async def _work(self, child: Child) -> None:
        """Wait for a free place, work, journal the end. Never cancelled."""
        ending = Ending("interrupted")
        events: Sequence[Event] = ()
        while not child.stopped and self._working >= self._agents.most:
            self._freed.clear()
            await self._freed.wait()
        self._working += 1
        try:
            if not child.stopped:
                ending, events = await self._conversing.run(
                    child, partial(self._asked, child), partial(self._hear, child)
                )
        except Exception as error:  # one agent's failure must not take the session down
            ending = failed(error)
        finally:
            self._working -= 1
            self._freed.set()
        if child.stopped and ending.state == "interrupted":
            ending = changed(ending, reason=child.stopped)
        child.answer = ending.answer or last_words(events)
        seconds = self._clock.monotonic() - child.begun
        end = summed_up(child.started, ending, events, seconds, child.kept)
        if child.started.background:
            kept = self._reply(child, end)
            end = replace(end, answer=kept.text[kept.head :])
        try:
            await self._record.append(end)
        except JournalError as error:
            self._record.tell(Told(str(error), "error"))
        child.finished = end
        if child.started.background:
            said = f"Agent {child.name} has ended ({ending.state}): "
            self._record.tell(Told(said + one_line(child.started.description)))
        self._tell(child)

    async def _asked(self, child: Child, question: Question) -> Decision:
        child.line = one_line(question.review.title)[:LINE]
        self._tell(child)
        return await self._ask(replace(question, agent=child.name))

    def _hear(self, child: Child, update: Update) -> None:
        if heard(child, update):
            self._tell(child)

    def _tell(self, child: Child) -> None:
        self._record.tell(ChildChanged(child.number))
