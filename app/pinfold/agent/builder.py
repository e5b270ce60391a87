"""Builds a session: its parts, each of which gets those that it is on."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from random import Random

from pinfold.agent.calls.approvals import Approvals, Consent
from pinfold.agent.calls.background import Background
from pinfold.agent.calls.calls import Calls
from pinfold.agent.calls.confinement import Confinement
from pinfold.agent.calls.drifting import Drifting
from pinfold.agent.calls.memory_tool import MemoryApply
from pinfold.agent.calls.outputs import Outputs
from pinfold.agent.calls.toolbox import Toolbox
from pinfold.agent.checkpoint_file import CheckpointFile
from pinfold.agent.children import news
from pinfold.agent.children.children import Children
from pinfold.agent.children.definition import Agents, no_agents
from pinfold.agent.children.history import Records
from pinfold.agent.children.races import Races
from pinfold.agent.compaction.applying import Applying
from pinfold.agent.compaction.automatic import AutoCompaction
from pinfold.agent.compaction.compacting import Compacting
from pinfold.agent.compaction.mask_batches import MaskBatches
from pinfold.agent.compaction.preparing import Preparing
from pinfold.agent.compaction.ready import Ready
from pinfold.agent.compaction.summarizing import Summarizing
from pinfold.agent.context.front import Front
from pinfold.agent.context.git_state import GitState
from pinfold.agent.context.remembering import Remembering
from pinfold.agent.context.skills import Skills
from pinfold.agent.files import Files
from pinfold.agent.hooks import Hooks
from pinfold.agent.options import Limits, Options
from pinfold.agent.parts import Parts
from pinfold.agent.record import Record
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.agent.requests.learning import Learning
from pinfold.agent.requests.metadata import Metadata
from pinfold.agent.requests.model_choice import ModelChoice
from pinfold.agent.requests.prewarm import Prewarm
from pinfold.agent.requests.request import Requester
from pinfold.agent.requests.server_count import ServerCount
from pinfold.agent.session import Session
from pinfold.agent.steering.meter import Meter
from pinfold.agent.steering.steering import Steering
from pinfold.agent.turn.before_turn import BeforeTurn
from pinfold.agent.turn.budget import Budget
from pinfold.agent.turn.expanding import Expanding
from pinfold.agent.turn.joining import Joining
from pinfold.agent.turn.planning import Planning
from pinfold.agent.turn.queue import PromptQueue
from pinfold.agent.turn.reopening import CRASHED, found_as, left_at, take_up
from pinfold.agent.turn.turn import Turn
from pinfold.agent.turn.work import Work
from pinfold.ports.approver import Approver
from pinfold.ports.clock import Clock
from pinfold.ports.provider import ModelInfo
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
) -> Session:
    """Fold the journal and go on from its end; a turn that a crash cut short is closed.

    `connect_summarizer` reaches the model that compacts, where that is another one.

    Raises `JournalError`.
    """
    from pinfold.agent.children.task import Task  # loads pydantic, as does the next
    from pinfold.skills.tool import SkillTool
    from pinfold.tools.recall import Recall

    record = await asyncio.to_thread(Record, journal, counter, connection.wire_api)
    left = await asyncio.to_thread(left_at, record)
    found = found_as(record.state, read_only=journal.read_only)
    opened_after = journal.last_seq
    choice = ModelChoice(record, connection, connect, options.reasoning_effort, options.prices)
    limits = Limits(options.auto, options.threshold)

    # Parts ask for these when they need them: they change while the session lasts.
    def connected() -> Connection:
        return choice.connection

    def model() -> ModelInfo:
        return choice.model

    def effort() -> str | None:
        return choice.effort

    def busy() -> bool:
        return work.busy

    def count(text: str) -> int:
        return record.gauge.counter.count(text)

    # What a call and a request need
    remembering = Remembering(record, options.memories)
    skills = Skills(record, options.skills, options.servers_budget, busy)
    hooks = Hooks(record, cwd, options.hooks, options.hook_timeout)
    consent = Consent(
        options.approvals,
        options.allow,
        options.deny,
        options.trusted,
        attended=options.attended,
        ceiling=options.ceiling,
        inherited=options.inherited,
    )
    confinement = Confinement(options.sandbox, options.no_sandbox, model)
    drift = Drifting(record, cwd, options.drift, attended=options.attended)
    outputs = Outputs(model, count)
    background = Background(record)
    approvals = Approvals(record, approver, consent, confinement, drift, cwd, remembering, skills)
    agents = options.agents or Agents(no_agents)
    budget = options.budget or Budget(
        record,
        options.prices,
        lambda: children.spends,
        options.max_steps,
        options.max_cost,
    )
    children = Children(
        record, clock, agents, consent, approvals.ask, connected, options.prices, budget
    )
    servers = mentioned = None
    if options.servers is not None:
        from pinfold.agent.servers.making import servers_of
        from pinfold.agent.servers.mentioned import Mentioned

        servers = await servers_of(
            record, options, model, lambda: connected().wire_api, consent, busy
        )
        mentioned = Mentioned(record, servers, outputs, cwd) if servers is not None else None
    own = [Recall(record.window, Records(children)), MemoryApply(record)]
    own += [SkillTool(options.skills)] if options.skills else []
    own += [Task(record, children)] if options.agents else []
    if servers is None:
        toolbox = Toolbox(own, tools)
    else:
        toolbox = Toolbox([*own, *servers.tools()], tools, servers.tool)
        servers.listing.taken = lambda: toolbox.names
    if journal.started.parent and journal.started.forked_from:
        toolbox.keep(record.state.context.context.tools)
    calls = Calls(
        record,
        toolbox,
        approvals,
        consent,
        confinement,
        cwd,
        hooks,
        remembering,
        outputs,
        background,
        children.tell,
    )
    metadata = Metadata(record, wanted=options.turn_metadata)
    requester = Requester(
        record,
        clock,
        metadata,
        remembering,
        max_retries=options.max_retries,
        effort=effort,
        rng=Random(),  # noqa: S311  jitter
    )

    # What is done to the window
    files = Files(record, cwd, model)
    summarizing = Summarizing(
        record,
        clock,
        metadata,
        connected,
        connect_summarizer,
        options.prices,
        options.summary_window,
        effort,
    )
    ready = Ready(record.window)
    compaction = Compacting(
        record,
        files,
        summarizing,
        Applying(record, hooks, clock, cwd, busy),
        clock,
        model,
        busy,
        options.strategy,
        options.compact,
        ready,
    )
    masking = MaskBatches(record, compaction, options.mask_threshold)
    reading = Meter(record, choice, limits, masking, options.prices).reading
    triggers = AutoCompaction(record, compaction, masking, reading, limits)
    preparing = Preparing(
        record, compaction, summarizing, reading, limits, options.preparing, ready
    )

    # The turn
    learning = Learning(record, connected, choice.take, reading, compaction.view, learned_windows)
    front = Front(
        record,
        cwd,
        user_folder,
        lambda: toolbox.schemas(connected().wire_api),
        model,
        clock,
        remembering,
        skills,
        options.prices,
        servers,
    )
    git = GitState(record, cwd, lambda: confinement.of("read-only"), trusted=options.trusted)

    async def switch(name: str) -> None:
        await choice.switch(name, triggers, reading)

    expanding = Expanding(record, skills, calls, approvals.ask, choice, switch)
    before = BeforeTurn(
        record, cwd, model, front, hooks, files, calls.tell_limits, git, left, expanding, mentioned
    )
    queue = PromptQueue(record)
    planning = Planning(record, consent, approvals.ask)
    turn = Turn(
        record,
        requester,
        calls,
        files,
        triggers,
        learning,
        front,
        connected,
        approvals.ask,
        budget,
        Joining(record, queue, before).join,
        hooks,
        leads=options.budget is None,
    )
    work = Work(record, cwd, turn, before, outputs, background.jobs, queue, planning)
    prewarm = Prewarm(record, clock, metadata, connected, wanted=options.prewarm)
    checkpoint_file = CheckpointFile(record)
    server_count = ServerCount(record, connected)
    record.subscribe(server_count.hear)
    session = Session(
        Parts(
            record=record,
            requester=requester,
            cwd=cwd,
            clock=clock,
            prices=options.prices,
            choice=choice,
            limits=limits,
            consent=consent,
            confinement=confinement,
            toolbox=toolbox,
            background=background,
            children=children,
            races=Races(record, children, consent, confinement, agents.races, work),
            servers=servers,
            files=files,
            hooks=hooks,
            summarizing=summarizing,
            compaction=compaction,
            preparing=preparing,
            triggers=triggers,
            reading=reading,
            learning=learning,
            front=front,
            skills=skills,
            work=work,
            prewarm=prewarm,
            checkpoint_file=checkpoint_file,
            server_count=server_count,
            window=Steering(record, model, reading, busy),
            found=found,
            left_at=left.for_user(),
            opened_after=opened_after,
        )
    )
    if not journal.read_only:
        await calls.close_open(CRASHED, await news.take_up(record, clock, options.prices))
        await background.take_up()
        await take_up(record)
        await choice.note("session opened")
        if reading().source != "measured":
            server_count.ask()
    if servers is not None:
        background.jobs.beside.append(servers.port.apart)
        servers.begin()
    return session
