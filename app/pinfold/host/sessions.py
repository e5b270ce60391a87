"""Opens sessions: a journal, a model, the tools."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import get_args

from msgspec.structs import replace as changed

from pinfold import __version__, paths
from pinfold.agent.builder import build
from pinfold.agent.children.definition import Agents, Order
from pinfold.agent.clock import CLOCK
from pinfold.agent.hooks import Moment
from pinfold.agent.options import Options, PreparingOptions
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.agent.session import Session
from pinfold.agent.updates import Appended, PhaseChanged, Update
from pinfold.closest import shown, suggestion
from pinfold.compaction.view import PlanOptions
from pinfold.host.agent_files import OWN_TOOLS, known_agents
from pinfold.host.agent_worktrees import AgentWorktrees
from pinfold.host.allocator import share_heaps
from pinfold.host.app_context import AppContext
from pinfold.host.defaults import PLAN_OPTIONS
from pinfold.host.memory_access import reader_of
from pinfold.host.models import connect, connect_summarizer, key_variables
from pinfold.host.prices import prices
from pinfold.host.prompts import overrides
from pinfold.host.race_folders import CopiedFolders
from pinfold.host.sandbox import sandbox_of
from pinfold.host.servers import servers_of
from pinfold.host.skills import library_of
from pinfold.ports.approver import Approver
from pinfold.ports.servers import Servers
from pinfold.ports.tool import Tool
from pinfold.rollout.events import ModelChanged
from pinfold.rollout.journal import Journal, JournalError
from pinfold.settings import CompactSettings, Settings, SettingsError
from pinfold.tokens.counter import Counter
from pinfold.tools.registry import Web
from pinfold.tools.registry import tools as all_tools


async def open_session(
    ctx: AppContext,
    approver: Approver,
    journal: Callable[[], Journal],
    *,
    connection: Connection | None = None,
    tools: Sequence[Tool] | None = None,
    counter: Counter | None = None,
    summarizer: Callable[[], Awaitable[Connection]] | None = None,
    attended: bool = True,
    agent: Order | None = None,
    skills: bool = True,
    servers: Servers | None = None,
) -> Session:
    """A session on `journal`, ready for its first prompt.

    `summarizer` connects to the model that compacts, if not the settings' one. `attended` is false
    if the approver can't ask anybody. `agent` is the order of a session that another session
    starts: it can't start agents, and shares the other's MCP `servers`.

    Raises `ProviderError`, `JournalError`, `SessionHeld`, `SettingsError`.
    """
    await asyncio.to_thread(share_heaps)
    prompts = await asyncio.to_thread(overrides, ctx)
    settings = ctx.settings
    if settings.compact.mode != CompactSettings().mode:
        await asyncio.to_thread(_check_strategy, settings.compact.mode)
    if summarizer is None and settings.compact.model:
        summarizer = partial(connect_summarizer, ctx)
    async with AsyncExitStack() as undoing:
        if connection is None:
            connection = await connect(ctx)
            undoing.push_async_callback(connection.provider.close)
        opened = await asyncio.to_thread(journal)
        undoing.callback(opened.close)
        sandbox, no_sandbox = await asyncio.to_thread(sandbox_of, ctx, opened.folder)
        counter = counter or Counter(connection.model.encoding, paths.cache_folder())
        if opened.started.adopted:
            # Calibration learns from its usage reports as they are read, with exact counts.
            await asyncio.to_thread(counter.load)
        if tools is None:
            servers = await asyncio.to_thread(
                servers_of, ctx, opened.folder, (sandbox, no_sandbox), attended=attended
            )
            tools = await asyncio.to_thread(_tools, settings)
        options = Options(
            approvals=settings.approvals.mode,
            allow=settings.approvals.allow,
            deny=settings.approvals.deny,
            drift=settings.approvals.drift,
            trusted=await asyncio.to_thread(lambda: ctx.trusted),
            attended=attended,
            sandbox=sandbox,
            no_sandbox=no_sandbox,
            max_steps=settings.agent.max_steps,
            max_cost=settings.agent.max_cost,
            max_retries=settings.agent.max_retries,
            reasoning_effort=settings.model.reasoning_effort,
            auto=settings.compact.auto,
            strategy=settings.compact.mode,
            compact=replace(plan_options(settings.compact), prompts=prompts),
            threshold=settings.compact.auto_compact_threshold_pct,
            prices=prices(settings),
            hooks={moment: getattr(settings.hooks, moment) for moment in get_args(Moment)},
            hook_timeout=settings.hooks.timeout,
            mask_threshold=settings.compact.mask_threshold_pct,
            preparing=PreparingOptions(
                settings.compact.prepare,
                settings.compact.prepare_threshold_pct,
                settings.compact.prepare_budget_pct,
            ),
            prewarm=settings.agent.prewarm,
            turn_metadata=settings.agent.turn_metadata,
            summary_window=settings.compact.context_window,
            memories=reader_of(ctx),
            skills=library_of(ctx) if skills else None,
            servers=servers,
            servers_budget=settings.mcp.budget_pct / 100,
        )
        session = await build(
            opened,
            ctx.cwd,
            connection,
            tools,
            approver,
            CLOCK,
            options,
            counter=counter,
            user_folder=paths.config_folder(),
            connect=partial(connect, ctx),
            connect_summarizer=summarizer,
            learned_windows=LearnedWindows(ctx.home),
            agents=None if agent else await _agents(ctx, attended, tools, servers),
            order=agent,
        )
        undoing.pop_all()
    Tokenizer(session, counter)
    return session


async def _agents(
    ctx: AppContext, attended: bool, tools: Sequence[Tool], servers: Servers | None
) -> Agents:
    names = [tool.schema.name for tool in tools]
    found = await asyncio.to_thread(known_agents, ctx, (*names, *OWN_TOOLS))
    return Agents(
        partial(_open_agent, ctx, attended, names, servers),
        found.known,
        found.problems,
        worktrees=AgentWorktrees(ctx.cwd),
        races=CopiedFolders(ctx.cwd),
    )


async def _open_agent(
    ctx: AppContext, attended: bool, names: Collection[str], servers: Servers | None, order: Order
) -> Session:
    """`names` are the tools of the parent; an agent with only some of them gets no `servers`."""
    agent, connection = order.agent, order.connection
    async with AsyncExitStack() as undoing:
        if agent.model is not None:
            connection = await connect(ctx, agent.model)
            undoing.push_async_callback(connection.provider.close)
        every = await asyncio.to_thread(_tools, ctx.settings)
        session = await open_session(
            changed(ctx, cwd=order.cwd or ctx.cwd),
            order.approver,
            order.journal,
            connection=connection,
            tools=[
                tool
                for tool in every
                if tool.schema.name in names
                and (agent.tools is None or tool.schema.name in agent.tools)
            ],
            attended=attended,
            agent=order,
            skills=agent.tools is None or "skill" in agent.tools,
            servers=servers if agent.tools is None else None,
        )
        undoing.pop_all()
    return session


def _tools(settings: Settings) -> list[Tool]:
    web = settings.web
    withheld = key_variables(settings) - set(settings.tools.env_keep)
    return all_tools(withheld, Web(web.fetch, web.hosts, web.private, web.search))


def _check_strategy(name: str) -> None:
    """Raises `SettingsError` if there is no such strategy."""
    from pinfold.compaction.strategies.registry import registry

    if name not in (known := registry().strategies):
        raise SettingsError(f"compact.mode can't be {shown(name)}{suggestion(name, known)}")


def plan_options(settings: CompactSettings) -> PlanOptions:
    return PlanOptions(**{name: getattr(settings, name) for name in PLAN_OPTIONS})


def new_journal(ctx: AppContext, source: str = "shell") -> Journal:
    return ctx.store.create(ctx.cwd, __version__, CLOCK.now, source)


def folder_of(ctx: AppContext, session_id: str | None) -> Path:
    """The folder of the session whose id begins so, or of the newest. Raises `JournalError`."""
    return ctx.store.find(session_id) if session_id else ctx.store.last(ctx.cwd)


def own_folder(ctx: AppContext, folder: Path, *, else_here: bool = False) -> AppContext:
    """`ctx` with the folder that the session in `folder` works in, and its settings.

    If that is gone: `ctx` if `else_here`. Raises `JournalError`, `SettingsError`.
    """
    with Journal.open(folder, CLOCK.now, read_only=True) as journal:
        cwd = Path(journal.started.cwd)
    if not cwd.is_dir():
        if else_here:
            return ctx
        raise JournalError(f"This session worked in {cwd}, which is gone; --fork it.")
    return ctx.in_folder(cwd)


AT_ONCE = 0.3
"""Seconds in which a server nearby may answer."""


class Tokenizer:
    """Loads the exact tokenizer while the first request waits for its answer.

    Loading blocks the event loop for a moment, which nobody notices then. It starts a little later,
    so that a quick answer is not delayed.
    """

    def __init__(self, session: Session, counter: Counter) -> None:
        self._session = session
        self._counter = counter
        self._loading: asyncio.Task[None] | None = None
        session.subscribe(self._hear)

    def _hear(self, update: Update) -> None:
        match update:
            case PhaseChanged(phase="requesting") if not self._counter.loaded:
                self._start()
            case Appended(event=event) if isinstance(event.data, ModelChanged):
                encoding = self._session.model.encoding
                if encoding != self._counter.encoding:
                    self._counter = Counter(encoding, paths.cache_folder())
                    self._start()

    def _start(self) -> None:
        if self._loading is None or self._loading.done():
            self._loading = asyncio.create_task(self._load(self._counter))

    async def _load(self, counter: Counter) -> None:
        await asyncio.sleep(AT_ONCE)
        await asyncio.to_thread(counter.load)
        await self._session.recount(counter)
