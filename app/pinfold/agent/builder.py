"""Builds a session: folds its journal, makes its parts, and goes on where it was left."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pinfold.agent.children import news
from pinfold.agent.children.definition import Agents, Order
from pinfold.agent.options import Options
from pinfold.agent.parts import Parts
from pinfold.agent.record import Record
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.agent.session import Session
from pinfold.agent.turn.reopening import CRASHED, left_at, take_up
from pinfold.ports.approver import Approver
from pinfold.ports.clock import Clock
from pinfold.ports.servers import Servers, ServerState
from pinfold.ports.tool import Tool
from pinfold.rollout.journal import Journal
from pinfold.tokens.counter import Counter


async def build(
    journal: Journal,
    cwd: Path,
    connection: Connection,
    tools: Sequence[Tool],
    approver: Approver,
    clock: Clock,
    options: Options,
    *,
    counter: Counter,
    user_folder: Path,
    connect: Callable[[str], Awaitable[Connection]],
    connect_summarizer: Callable[[], Awaitable[Connection]] | None = None,
    learned_windows: LearnedWindows,
    agents: Agents | None = None,
    order: Order | None = None,
) -> Session:
    """Fold the journal and go on from its end; a turn that a crash cut short is closed.

    `connect_summarizer` reaches the model that compacts, where that is another one; `agents` may be
    started; `order` is that of an agent's session, with its parent's `options`.

    Raises `JournalError`.
    """
    if order is not None:
        auto = "auto" if options.auto == "ask" else options.auto
        options = replace(options, approvals=order.agent.approvals, auto=auto)
    record = await asyncio.to_thread(Record, journal, counter, connection.wire_api)
    parts = Parts(
        record,
        cwd,
        connection,
        tools,
        approver,
        clock,
        options,
        await asyncio.to_thread(left_at, record),
        user_folder=user_folder,
        connect=connect,
        connect_summarizer=connect_summarizer,
        learned_windows=learned_windows,
        agents=agents,
        order=order,
        known_servers=await asyncio.to_thread(_known_servers, options.servers),
    )
    session = Session(parts)
    if not journal.read_only:
        ended_agents = await news.take_up(record, clock, options.prices)
        await parts.calls.close_open(CRASHED, ended_agents)
        await parts.background.take_up()
        await take_up(record)
        await parts.choice.note("session opened")
        if parts.reading().source != "measured":
            parts.server_count.ask()
    if parts.servers is not None:
        parts.background.jobs.beside.append(parts.servers.port.apart)
        parts.servers.begin()
    return session


def _known_servers(servers: Servers | None) -> Mapping[str, ServerState]:
    """What they offered last time, by name."""
    if servers is None:
        return {}
    found = ((name, servers.known(name)) for name in servers.names())
    return {name: state for name, state in found if state is not None}
