"""A session: what the screen, `exec` and the commands hold on to."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import TypeVar, cast, get_args

from msgspec.structs import replace

from pinfold.agent.calls.background import Background
from pinfold.agent.calls.calls import Calls, Consent
from pinfold.agent.calls.confinement import Confinement
from pinfold.agent.calls.drifting import Drifting
from pinfold.agent.calls.memory_tool import MemoryApply
from pinfold.agent.calls.outputs import Outputs
from pinfold.agent.calls.toolbox import Toolbox
from pinfold.agent.checkpoint_file import CheckpointFile
from pinfold.agent.compaction.automatic import Reviewer, Triggers
from pinfold.agent.compaction.compacting import Compacting, Draft
from pinfold.agent.compaction.masking import Masking
from pinfold.agent.compaction.preparing import Preparing
from pinfold.agent.compaction.ready import Ready
from pinfold.agent.compaction.summarizing import Summarizing
from pinfold.agent.compaction.trigger import CompactionTrigger
from pinfold.agent.context.front import Front
from pinfold.agent.context.remembering import Remembering
from pinfold.agent.files import Files
from pinfold.agent.hooks import Hooks
from pinfold.agent.options import Limits, Options
from pinfold.agent.playback.playback import Playback
from pinfold.agent.playback.rounds import Round
from pinfold.agent.record import Record
from pinfold.agent.requests.cold import cold_said
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.agent.requests.learning import Learning
from pinfold.agent.requests.metadata import Metadata
from pinfold.agent.requests.prewarm import Prewarm
from pinfold.agent.requests.request import Connection, Requester
from pinfold.agent.requests.server_count import ServerCount
from pinfold.agent.steering.steering import Steering
from pinfold.agent.turn.before_turn import BeforeTurn
from pinfold.agent.turn.ending import Ending, refused
from pinfold.agent.turn.large_prompts import LargePrompts
from pinfold.agent.turn.reopening import damage_of, found_as
from pinfold.agent.turn.standing import Standing, standing_of
from pinfold.agent.turn.turn import Turn
from pinfold.agent.turn.work import Work
from pinfold.agent.updates import (
    Phase,
    Update,
)
from pinfold.compaction.view import PlanOptions
from pinfold.ports.approver import Approver
from pinfold.ports.clock import Clock
from pinfold.ports.errors import ProviderError
from pinfold.ports.provider import ModelInfo
from pinfold.ports.tool import Terminal, Tool
from pinfold.rollout import drafts
from pinfold.rollout.events import (
    Event,
    ModelChanged,
    PromptUnqueued,
    TurnFinished,
)
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.provenance import Prompt, Span, slices
from pinfold.settings import Auto, Mode
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import count_item
from pinfold.tokens.stream import StreamCount
from pinfold.tools.jobs import Jobs
from pinfold.window.reading import Reading
from pinfold.window.refused import Refused
from pinfold.wire.caching import never_cached

Answer = TypeVar("Answer")

CRASHED = "Unknown: pinfold stopped before this call's result was written down."


class Session:
    """One conversation. Made by `open`, on the event loop; all its methods belong there too."""

    def __init__(
        self,
        record: Record,
        cwd: Path,
        connection: Connection,
        tools: Sequence[Tool],
        approver: Approver,
        clock: Clock,
        options: Options,
        *,
        user_folder: Path,
        connect: Callable[[str], Awaitable[Connection]],
        connect_summarizer: Callable[[], Awaitable[Connection]] | None,
        learned_windows: LearnedWindows,
        stood: Standing,
    ) -> None:
        self._record = record
        self._connection = connection
        self._clock = clock
        self._connect = connect
        self._consent = Consent(options.approvals, options.allow, options.deny, options.trusted)
        self._confinement = Confinement(options.sandbox, options.no_sandbox)
        self._limits = Limits(options.auto, options.threshold)
        self._prices = options.prices
        from pinfold.tools.recall import Recall  # loads pydantic

        own: tuple[Tool, ...] = (Recall(record.window), MemoryApply(record))
        self._tools = Toolbox(own, tools)
        remembering = Remembering(record, options.memories)
        hooks = Hooks(record, cwd, options.hooks, options.hook_timeout)
        drift = Drifting(record, cwd, options.drift, attended=options.attended)
        self._outputs = Outputs(lambda: self.model, self._count)
        self._background = Background(record)
        self._calls = Calls(
            record,
            self._tools,
            approver,
            self._consent,
            self._confinement,
            drift,
            cwd,
            hooks,
            remembering,
            self._outputs,
            self._background,
        )
        metadata = Metadata(record, wanted=options.turn_metadata)
        requester = Requester(
            record,
            clock,
            metadata,
            remembering,
            max_retries=options.max_retries,
            effort=options.reasoning_effort,
            rng=Random(),  # noqa: S311  jitter
        )
        self.files = Files(record, cwd, lambda: self.model)
        self._summarizing = Summarizing(
            record,
            clock,
            metadata,
            lambda: self._connection,
            connect_summarizer,
            options.prices,
            options.summary_window,
            options.reasoning_effort,
        )
        ready = Ready(record.window)
        self.compaction = Compacting(
            record,
            self.files,
            self._summarizing,
            hooks,
            clock,
            cwd,
            lambda: self.model,
            lambda: self.busy,
            options.strategy,
            options.compact,
            ready,
        )
        self._masking = Masking(record, self.compaction, options.mask_threshold)
        self._triggers = Triggers(
            record, self.compaction, self._masking, self.reading, self._limits
        )
        self.preparing = Preparing(
            record,
            self.compaction,
            self._summarizing,
            self.reading,
            self._limits,
            options.preparing,
            ready,
        )
        self._learning = Learning(
            record,
            lambda: self._connection,
            self._take,
            self.reading,
            self.compaction.view,
            learned_windows,
        )
        self._front = Front(
            record,
            cwd,
            user_folder,
            lambda: self._tools.schemas,
            lambda: self.model,
            clock,
            remembering,
            options.prices,
        )
        turn = Turn(
            record,
            requester,
            self._calls,
            self.files,
            self._triggers,
            self._learning,
            self._front,
            lambda: self._connection,
            max_steps=options.max_steps,
        )
        self._before = BeforeTurn(
            record,
            cwd,
            lambda: self.model,
            self._front,
            hooks,
            self.files,
            self._calls.tell_limits,
            stood,
        )
        self._work = Work(record, cwd, turn, self._before, self._outputs)
        self._prewarm = Prewarm(
            record, clock, metadata, lambda: self._connection, wanted=options.prewarm
        )
        self._recorded = False
        """Whether it is a recording that is played."""
        self._stood = stood
        self._found = found_as(record.state, read_only=record.journal.read_only)
        self.cwd = cwd
        self.opened_after = record.journal.last_seq
        """The last event before this opening."""
        self._checkpoint_file = CheckpointFile(record)
        self._server_count = ServerCount(record, lambda: self._connection)
        record.subscribe(self._server_count.hear)
        self.large = LargePrompts(record, lambda: self.model, self.reading, self._takes_nothing)
        self.window = Steering(record, lambda: self.model, self.reading, lambda: self.busy)

    @classmethod
    async def open(
        cls,
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
    ) -> "Session":
        """Fold the journal and go on from its end; a turn that a crash cut short is closed.

        `connect_summarizer` reaches the model that compacts, where that is another one.

        Raises `JournalError`.
        """
        record = await asyncio.to_thread(Record, journal, counter, connection.wire_api)
        session = cls(
            record,
            cwd,
            connection,
            tools,
            approver,
            clock,
            options,
            user_folder=user_folder,
            connect=connect,
            connect_summarizer=connect_summarizer,
            learned_windows=learned_windows,
            stood=await asyncio.to_thread(standing_of, record),
        )
        if not journal.read_only:
            await session._take_up()
        return session

    async def _take_up(self) -> None:
        record = self._record
        await self._calls.close_open(CRASHED)
        await self._background.take_up()
        if left := record.state.queue:
            # Nothing is sent unasked: what waited when pinfold stopped goes into the prompt.
            draft = await asyncio.to_thread(self.draft)
            texts = [*(prompt.text for prompt in left.values()), draft.text]
            pastes = [
                paste for prompt in left.values() for paste in slices(prompt.text, prompt.pasted)
            ]
            joined = "\n\n".join(text for text in texts if text)
            await asyncio.to_thread(self.save_draft, joined, (*pastes, *draft.pasted))
            await record.append(*(PromptUnqueued(id=k, reason="edited") for k in tuple(left)))
        if record.state.turn_open:
            await record.append(
                TurnFinished(turn=record.state.turn, state="interrupted", reason="pinfold stopped")
            )
        await self._note_model("session opened")
        if self.reading().source != "measured":
            self._server_count.ask()

    async def _note_model(self, reason: str) -> None:
        model, last = self.model, self._record.state.model
        now = ModelChanged(
            provider=model.provider,
            model=model.name,
            context_window=model.context_window,
            window_source=model.window_source,
            reason=reason,
        )
        if last is None or (last.provider, last.model, last.context_window) != (
            now.provider,
            now.model,
            now.context_window,
        ):
            await self._record.append(now)

    # What it is

    @property
    def id(self) -> str:
        return self._record.state.id

    @property
    def folder(self) -> Path:
        return self._record.journal.folder

    @property
    def read_only(self) -> bool:
        return self._record.journal.read_only

    @property
    def damage(self) -> tuple[str, ...]:
        """What of the journal could not be read."""
        return damage_of(self._record.journal.torn, self._record.state.unreadable)

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should know about how the session was found."""
        found = [*self.damage, *self._found]
        if self.unconfined and self.model.tools and self._consent.mode != "full":
            asks = "`workspace` asks for each command, `read-only` runs none"
            found.append(f"No sandbox: {self.unconfined}. {asks}.")
        if self.read_only:
            found.append("This session is open read-only. /fork goes on in a copy of it.")
        return tuple(found)

    @property
    def standing(self) -> str:
        """Where the session stood when it was left; empty for a new one."""
        return self._stood.for_user()

    @property
    def items(self) -> Sequence[Item]:
        """Every item of the session, oldest first; `window` tells which the model sees."""
        return self.window.history

    async def events(self) -> Sequence[Event]:
        """All that happened so far, oldest first. Raises `JournalError`."""
        return await asyncio.to_thread(lambda: tuple(self._record.journal.read()))

    @property
    def counter(self) -> Counter:
        """Counts as the gauge does."""
        return self._record.gauge.counter

    @property
    def model(self) -> ModelInfo:
        return self._connection.model

    @property
    def choice_note(self) -> str:
        return self._connection.note

    @property
    def phase(self) -> Phase:
        return self._record.phase

    @property
    def approvals(self) -> str:
        return self._consent.mode

    @property
    def unconfined(self) -> str:
        """Why the agent's commands run in no sandbox; empty where they do."""
        return self._confinement.missing

    @property
    def auto(self) -> Auto:
        """What happens at the threshold."""
        return self._limits.auto

    @property
    def threshold(self) -> float:
        """The share of the usable window at which it happens."""
        return self._limits.threshold

    @property
    def compacts_next(self) -> bool:
        """Whether that would happen at the next request: it may be too soon after the last time."""
        return self._triggers.due()

    @property
    def cited(self) -> tuple[str, ...]:
        """The `session#item` that the last citation of memories names."""
        return self._record.state.cited

    @property
    def queue(self) -> tuple[tuple[int, str], ...]:
        return self._work.queue.prompts

    @property
    def jobs(self) -> Jobs:
        """The commands that run in the background."""
        return self._background.jobs

    @property
    def last_ending(self) -> str:
        """How the last turn ended: `done`, `waiting`, `interrupted`, `failed`, or nothing yet."""
        return self._record.state.turn_state

    def reading(self) -> Reading:
        """The gauge now."""
        threshold = self._limits.threshold if self._limits.auto != "off" else None
        reading = self._record.gauge.reading(self.model, threshold, self._prices)
        begins = self._masking.begins(reading) if self._limits.auto == "auto" else None
        if begins is not None and begins >= (reading.threshold or 0):
            begins = None  # the window is compacted before
        return replace(
            reading, masking=begins, never_cached=never_cached(self._connection.base_url)
        )

    async def cold(self) -> str:
        """What the next request costs where the prompt cache has nothing of it, in a sentence;
        empty where it may have, or where that is not known."""
        if self._takes_nothing() or self.busy:
            return ""
        return await cold_said(
            self._record,
            self._connection,
            self._clock,
            self._prices,
            self.reading(),
            self.compaction.tokens_after,
        )

    def _count(self, text: str) -> int:
        return self._record.gauge.counter.count(text)  # it changes with the model

    def stream_count(self) -> StreamCount:
        """A count for text that streams in."""
        return StreamCount(self._record.gauge.counter)

    async def recount(self, counter: Counter) -> None:
        """Count the window again, with a counter that has its tokenizer by now."""
        wire_api = self._connection.wire_api
        # Counted in a thread, remembered by the counter, then only added up here.
        shown = [entry.item for entry in self._record.window.shown]
        await asyncio.to_thread(lambda: [count_item(counter, item, wire_api) for item in shown])
        self._record.gauge.recount(counter, wire_api)

    async def move_in(self) -> None:
        """Where another tool's set-up stands before the window, put ours there.

        Raises `JournalError`.
        """
        record = self._record
        if record.journal.started.adopted and not self.read_only:
            context = await self._front.fresh()
            if context.hash != record.state.context.hash:
                await record.append(context)

    async def count_front(self) -> None:
        """Count what the first request will carry before the window, where none went out yet."""
        if not self._record.state.context.hash:
            self._record.gauge.foresee((await self._front.fresh()).context)

    async def warm(self) -> None:
        """Load what the first request needs. What fails here, the request will tell."""
        with suppress(ProviderError):
            await self._connection.provider.warm()

    def typed(self) -> None:
        """The user types: where it is wanted, the connection and the prompt cache get ready."""
        self._prewarm.typed()

    def subscribe(self, listener: Callable[[Update], None]) -> Callable[[], None]:
        """Hear every update from now on. Returns how to stop."""
        return self._record.subscribe(listener)

    # What one can do

    @property
    def busy(self) -> bool:
        return self._work.busy

    def send(self, text: str, pasted: Sequence[Span] = ()) -> asyncio.Future[Ending]:
        """Start a turn with `text`, or queue it while one runs; await it for how the turn ended.

        `pasted` are the spans that the user did not type. A prompt that is not sent comes back as
        `PromptReturned`. Whoever stops waiting does not stop the turn.
        """
        if why := self._takes_nothing():
            self._work.refuse(text, why)
            return refused(why)
        return self._work.send(Prompt(text, tuple(pasted)))

    def run_command(self, command: str) -> None:
        """Run the user's own shell command; what it prints enters the window."""
        busy = "This session is busy: Esc interrupts the turn." if self.busy else ""
        if why := self._takes_nothing() or busy:
            self._work.refuse(f"!{command}", why)
        else:
            self._work.command(command)

    def _takes_nothing(self) -> str:
        """Why nothing can be sent or run here, if so."""
        if self.read_only:
            return "This session is open to read only. Fork it to go on: /fork."
        if self._recorded:
            return "This is a recording: nothing is sent and nothing runs. /fork goes on in a copy."
        return ""

    async def compact(
        self, strategy: str | None = None, options: PlanOptions | None = None
    ) -> Draft | None:
        """Compact by hand; prompts wait meanwhile. None where `interrupt` ended it.

        Raises `Refused`, `JournalError`, `OSError`.
        """
        return await self.compacting(
            lambda trigger: self.compaction.run(strategy, options, trigger=trigger)
        )

    async def compacting(
        self, work: Callable[[CompactionTrigger], Awaitable[Answer]]
    ) -> Answer | None:
        """Wait for work on a compaction by hand; prompts wait meanwhile, too. None where
        `interrupt` ended it.

        Raises `Refused`, and what `work` raises.
        """
        if self.busy:
            raise Refused("A turn is running: press Esc first, or wait for its end.")

        return await self._work.wait_for(
            lambda: work(CompactionTrigger(waited_for=True)), "compacting"
        )

    def lend(self, terminal: Terminal) -> None:
        """Lend `terminal` to the user's own commands that ask for keys."""
        self._work.terminal = terminal

    def review_by(self, reviewer: Reviewer) -> None:
        """Have the user decide on compactions where they are asked."""
        self._triggers.reviewer = reviewer

    def play(self, events: Sequence[Event], speed: float, *, own: bool = False) -> None:
        """Write a recording down as if it happened now, `speed` times as fast; 0: at once.

        `own` puts this session's compactions, by its strategy at its threshold, in the place of the
        recorded ones.
        """
        self.files.elsewhere = self._recorded = True
        compact = partial(self._triggers.check, "threshold", "mid_turn") if own else None
        playing = Playback(self._record, events, self._clock, self.reading, compact)
        self._work.play(playing, speed, told=own)

    @property
    def rounds(self) -> Sequence[Round]:
        """The compactions of the recording that was played."""
        return self._work.rounds

    def interrupt(self) -> None:
        """End the turn, the command, the wait or the question under way. What came is kept."""
        self._work.interrupt()

    def unqueue(self, queue_id: int) -> str:
        """Take a queued prompt back, to edit or drop it; its text, or nothing if it is gone."""
        return self._work.queue.take_back(queue_id)

    async def set_model(self, name: str) -> None:
        """Use another model from the next request on.

        Where the window does not fit it, the preview asks first. Raises `ProviderError`, also
        where the user leaves that without making room, and `JournalError`.
        """
        if self.busy:
            raise ProviderError("A turn is running: interrupt it first, or wait for its end.")
        await self._work.wait_for(lambda: self._switch(name))

    async def _switch(self, name: str) -> None:
        old = self._connection
        new = await self._connect(name)
        await self._take(new, "chosen by the user")
        self._triggers.acted()
        await self._triggers.check("model")
        reading = self.reading()
        asked = self._triggers.reviewer is not None and self._limits.auto != "off"
        declined = asked and reading.used > reading.usable
        if declined:
            await self._take(old, "the window did not fit the other model")
        left = new if declined else old
        if left.provider is not self._connection.provider:
            await left.provider.close()
        if declined:
            raise ProviderError(
                f"The window does not fit {new.model.name}: {reading.used:,} tokens, and it takes "
                f"{reading.usable:,}. Still on {old.model.name}; /compact makes room."
            )

    async def _take(self, connection: Connection, reason: str) -> None:
        old, self._connection = self._connection, connection
        self.preparing.reset()
        await self._note_model(reason)
        if connection.wire_api != old.wire_api:
            await self.recount(self._record.gauge.counter)

    async def forget_window(self) -> str:
        """Forget the context window that refused requests taught; what holds now, in a sentence.

        Raises `Refused`, `JournalError`.
        """
        return await self._learning.forget()

    def set_tools(self, tools: Iterable[Tool]) -> None:
        """Have these tools beside the session's own from the next turn on: the front is written
        anew then, and the user is told what that costs. Raises `Refused` during a turn."""
        if self.busy:
            raise Refused("A turn is running: tools change between turns.")
        self._tools.change(tools)

    def set_approvals(self, mode: str) -> None:
        """Change what runs without a question, from the next call on. Raises `ValueError`."""
        if mode not in get_args(Mode):
            raise ValueError(f"{mode!r} is none of {', '.join(get_args(Mode))}.")
        self._consent.mode = cast("Mode", mode)

    def set_threshold(self, to: str) -> None:
        """Take `auto`, `ask`, `off`, or a share of the usable window. Raises `ValueError`."""
        self._limits.set(to)
        self._triggers.acted()

    def save_draft(self, text: str, pasted: Sequence[str] = ()) -> None:
        """Keep what is being typed; it survives a crash. Raises `OSError`."""
        if not self.read_only:
            drafts.save(self.folder, text, pasted)

    def draft(self) -> drafts.Draft:
        return drafts.load(self.folder)

    async def idle(self) -> None:
        """Wait until nothing runs and nothing is left to write."""
        await self._work.idle()
        await self._checkpoint_file.written()

    async def close(self) -> None:
        """Interrupt what runs and let go of the journal and the model."""
        self._work.closing = True
        self._server_count.stop()
        await self.preparing.close()
        await self._prewarm.close()
        self.interrupt()
        await self.idle()
        await self._background.jobs.close()
        try:
            await self._connection.provider.close()
            await self._summarizing.close()
        finally:
            await self._record.close()
            await asyncio.to_thread(self._confinement.clear)
