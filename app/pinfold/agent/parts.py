"""The parts of a session: each is made with those it works with."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from pinfold.agent.calls.approvals import Approvals, Consent
from pinfold.agent.calls.background import Background
from pinfold.agent.calls.calls import Calls
from pinfold.agent.calls.confinement import Confinement
from pinfold.agent.calls.drifting import Drifting
from pinfold.agent.calls.memory_tool import MemoryApply
from pinfold.agent.calls.outputs import Outputs
from pinfold.agent.calls.toolbox import Toolbox
from pinfold.agent.checkpoint_file import CheckpointFile
from pinfold.agent.children.children import Children
from pinfold.agent.children.definition import Agents, Order, no_agents
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
from pinfold.agent.record import Record
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.agent.requests.learning import Learning
from pinfold.agent.requests.metadata import Metadata
from pinfold.agent.requests.model_choice import ModelChoice
from pinfold.agent.requests.prewarm import Prewarm
from pinfold.agent.requests.request import Requester
from pinfold.agent.requests.server_count import ServerCount
from pinfold.agent.steering.meter import Meter
from pinfold.agent.steering.steering import Steering
from pinfold.agent.turn.before_turn import BeforeTurn
from pinfold.agent.turn.budget import Budget
from pinfold.agent.turn.expanding import Expanding
from pinfold.agent.turn.joining import Joining
from pinfold.agent.turn.planning import Planning
from pinfold.agent.turn.queue import PromptQueue
from pinfold.agent.turn.reopening import LeftAt, found_as
from pinfold.agent.turn.turn import Turn
from pinfold.agent.turn.work import Work
from pinfold.ports.approver import Approver
from pinfold.ports.clock import Clock
from pinfold.ports.provider import ModelInfo
from pinfold.ports.servers import ServerState
from pinfold.ports.tool import Tool
from pinfold.rollout.context import Context

if TYPE_CHECKING:
    from pinfold.agent.servers.in_session import SessionServers
    from pinfold.agent.servers.mentioned import Mentioned


class Parts:
    """What a session is made of."""

    servers: "SessionServers | None" = None
    """None where none is configured."""
    _mentioned: "Mentioned | None" = None

    def __init__(
        self,
        record: Record,
        cwd: Path,
        connection: Connection,
        tools: Sequence[Tool],
        approver: Approver,
        clock: Clock,
        options: Options,
        left: LeftAt,
        *,
        user_folder: Path,
        connect: Callable[[str], Awaitable[Connection]],
        connect_summarizer: Callable[[], Awaitable[Connection]] | None,
        learned_windows: LearnedWindows,
        agents: Agents | None,
        order: Order | None,
        known_servers: Mapping[str, ServerState],
    ) -> None:
        """`known_servers` is what MCP servers offered last time; the rest is as in
        `builder.build`."""
        from pinfold.agent.children.task import Task  # loads pydantic, as does the next
        from pinfold.skills.tool import SkillTool
        from pinfold.tools.recall import Recall

        self.record = record
        self.cwd = cwd
        self.clock = clock
        self.prices = options.prices
        self.found = found_as(record.state, read_only=record.journal.read_only)
        """How the session was found, in sentences for the user."""
        self.left_at = left.for_user()
        self.opened_after = record.journal.last_seq
        choice = ModelChoice(record, connection, connect, options.reasoning_effort, options.prices)
        self.choice = choice
        self.limits = Limits(options.auto, options.threshold)

        # Parts ask for these when they need them: they change while the session lasts.
        def connected() -> Connection:
            return choice.connection

        def model() -> ModelInfo:
            return choice.model

        def effort() -> str | None:
            return choice.effort

        def busy() -> bool:
            return self.work.busy

        def count(text: str) -> int:
            return record.gauge.counter.count(text)

        # What a call and a request need
        remembering = Remembering(record, options.memories)
        self.skills = Skills(record, options.skills, options.servers_budget)
        self.hooks = Hooks(record, cwd, options.hooks, options.hook_timeout)
        consent = self.consent = Consent(
            options.approvals,
            options.allow,
            options.deny,
            options.trusted,
            attended=options.attended,
            ceiling=order.ceiling if order else None,
            inherited=order.inherited if order else tuple,
        )
        self.confinement = Confinement(options.sandbox, options.no_sandbox, model)
        drift = Drifting(record, cwd, options.drift, attended=options.attended)
        outputs = Outputs(model, count)
        self.background = Background(record)
        approvals = Approvals(
            record, approver, consent, self.confinement, drift, cwd, remembering, self.skills
        )
        budget = (
            order.budget
            if order
            else Budget(
                record,
                options.prices,
                lambda: self.children.spends,
                options.max_steps,
                options.max_cost,
            )
        )
        startable = agents or Agents(no_agents)
        self.children = Children(
            record, clock, startable, consent, approvals.ask, connected, options.prices, budget
        )
        if options.servers is not None and options.servers.names():
            from pinfold.agent.servers.in_session import SessionServers
            from pinfold.agent.servers.listing import Listing
            from pinfold.agent.servers.mentioned import Mentioned

            listing = Listing(
                record,
                options.servers,
                known_servers,
                model,
                lambda: connected().wire_api,
                options.servers_budget,
                lambda: self.toolbox.names,
            )
            self.servers = SessionServers(record, options.servers, listing, lambda: consent.mode)
            self._mentioned = Mentioned(record, self.servers, outputs, cwd)
        own = [Recall(record.window, Records(self.children)), MemoryApply(record)]
        own += [SkillTool(options.skills)] if options.skills else []
        own += [Task(record, self.children)] if agents else []
        own += self.servers.tools() if self.servers else []
        started = record.journal.started
        is_fork = started.parent and started.forked_from
        self.toolbox = Toolbox(
            [*own, *tools],
            self.servers.tool if self.servers else lambda _: None,
            record.state.context.context.tools if is_fork else (),
        )
        self.calls = Calls(
            record,
            self.toolbox,
            approvals,
            consent,
            self.confinement,
            cwd,
            self.hooks,
            remembering,
            outputs,
            self.background,
            self.children.tell,
        )
        metadata = Metadata(record, wanted=options.turn_metadata)
        self.requester = Requester(
            record,
            clock,
            metadata,
            remembering,
            max_retries=options.max_retries,
            effort=effort,
            rng=Random(),  # noqa: S311  jitter
        )

        # What is done to the window
        self.files = Files(record, cwd, model)
        self.summarizing = Summarizing(
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
        self.compaction = Compacting(
            record,
            self.files,
            self.summarizing,
            Applying(record, self.hooks, clock, cwd, busy),
            clock,
            model,
            busy,
            options.strategy,
            options.compact,
            ready,
        )
        masking = MaskBatches(record, self.compaction, options.mask_threshold)
        self.reading = Meter(record, choice, self.limits, masking, options.prices).reading
        self.auto_compaction = AutoCompaction(
            record, self.compaction, masking, self.reading, self.limits
        )
        self.preparing = Preparing(
            record,
            self.compaction,
            self.summarizing,
            self.reading,
            self.limits,
            options.preparing,
            ready,
        )
        self.window = Steering(record, model, self.reading, busy)

        # The turn
        self.learning = Learning(
            record, connected, choice.take, self.reading, self.compaction.view, learned_windows
        )

        def with_servers(own: Context, stays: bool) -> Context:
            return own if self.servers is None else self.servers.context(own, stays=stays)

        self.front = Front(
            record,
            cwd,
            user_folder,
            lambda: self.toolbox.schemas(connected().wire_api),
            model,
            clock,
            remembering,
            self.skills,
            options.prices,
            with_servers,
        )
        git = GitState(
            record, cwd, lambda: self.confinement.of("read-only"), trusted=options.trusted
        )

        async def switch(name: str) -> None:
            await choice.switch(name, self.auto_compaction.fit_model)

        expanding = Expanding(record, self.skills, self.calls, approvals.ask, choice, switch)
        before = BeforeTurn(
            record,
            cwd,
            model,
            self.front,
            self.hooks,
            self.files,
            self.calls.tell_limits,
            git,
            "" if started.parent else left.for_model(),  # an agent's fork was not left
            expanding,
            self._mentioned,
        )
        queue = PromptQueue(record)
        turn = Turn(
            record,
            self.requester,
            self.calls,
            self.files,
            self.auto_compaction,
            self.learning,
            self.front,
            connected,
            approvals.ask,
            budget,
            Joining(record, queue, before).join,
            self.hooks,
            self.servers,
        )
        planning = Planning(record, consent, approvals.ask)
        jobs = self.background.jobs
        self.work = Work(record, cwd, turn, before, outputs, jobs, queue, planning)
        self.races = Races(
            record, self.children, consent, self.confinement, startable.races, self.work
        )
        self.prewarm = Prewarm(record, clock, metadata, connected, wanted=options.prewarm)
        self.checkpoint_file = CheckpointFile(record)
        self.server_count = ServerCount(record, connected)
