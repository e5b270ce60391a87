"""A session: what the screen, `exec` and the commands hold on to."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from pinfold.agent.compaction.automatic import Reviewer
from pinfold.agent.compaction.draft import Draft
from pinfold.agent.compaction.trigger import CompactionTrigger
from pinfold.agent.parts import Parts
from pinfold.agent.playback.playback import Playback
from pinfold.agent.playback.rounds import Round
from pinfold.agent.requests.cold import cold_said
from pinfold.agent.turn.ending import Ending, refused
from pinfold.agent.turn.large_prompts import LargePrompts
from pinfold.agent.turn.reopening import damage_of
from pinfold.agent.updates import Phase, Update, WaitingPrompt
from pinfold.compaction.view import PlanOptions
from pinfold.ports.errors import ProviderError
from pinfold.ports.provider import ModelInfo
from pinfold.ports.tool import Terminal, Tool
from pinfold.rollout import drafts
from pinfold.rollout.acts import Step
from pinfold.rollout.events import Event
from pinfold.rollout.items import Item
from pinfold.rollout.provenance import Prompt, Span
from pinfold.settings import Auto
from pinfold.tokens.counter import Counter
from pinfold.tokens.stream import StreamCount
from pinfold.window.refused import Refused

Answer = TypeVar("Answer")


class Session:
    """One conversation. Its methods belong on the event loop."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._record = parts.record
        self._recorded = False
        """Whether it is a recording that is played."""
        self.id = parts.record.state.id
        self.folder = parts.record.journal.folder
        self.read_only = parts.record.journal.read_only
        self.cwd = parts.cwd
        self.files = parts.files
        self.compaction = parts.compaction
        self.preparing = parts.preparing
        self.window = parts.window
        self.choice = parts.choice
        """Its model, how hard that thinks, and what it costs."""
        self.jobs = parts.background.jobs
        """The commands that run in the background."""
        self.children = parts.children
        """The agents that it started."""
        self.reading = parts.reading
        """The gauge now."""
        self.large = LargePrompts(
            parts.record, lambda: self.model, self.reading, self._takes_nothing
        )
        self.left_at = parts.left_at
        """Where the session stood when it was left; empty for a new one."""
        self.opened_after = parts.opened_after
        """The last event before this opening."""

    # What it is

    @property
    def damage(self) -> tuple[str, ...]:
        """What of the journal could not be read."""
        return damage_of(self._record.journal.torn, self._record.state.unreadable)

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should know about how the session was found."""
        found = [*self.damage, *self._parts.found]
        if self.unconfined and self.model.tools and self._parts.consent.mode != "full":
            asks = "`workspace` asks for each command, `read-only` runs none"
            found.append(f"No sandbox: {self.unconfined}. {asks}.")
        if self.read_only:
            found.append("This session is open read-only. /fork continues in a fork of it.")
        return tuple(found)

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
        return self.choice.model

    @property
    def choice_note(self) -> str:
        return self._parts.choice.connection.note

    @property
    def phase(self) -> Phase:
        return self._record.phase

    @property
    def approvals(self) -> str:
        """The approval mode, or `plan`."""
        return self._parts.consent.name

    @property
    def edits_allowed(self) -> bool:
        """Whether plain edits run without asking, though the mode is `ask`."""
        return self._parts.consent.edits

    @property
    def unconfined(self) -> str:
        """Why the agent's commands run in no sandbox; empty where they do."""
        return self._parts.confinement.missing

    @property
    def auto(self) -> Auto:
        """What happens at the threshold."""
        return self._parts.limits.auto

    @property
    def threshold(self) -> float:
        """The share of the usable window at which it happens."""
        return self._parts.limits.threshold

    @property
    def compacts_next(self) -> bool:
        """Whether that would happen at the next request: it may be too soon after the last time."""
        return self._parts.triggers.due()

    @property
    def cited(self) -> tuple[str, ...]:
        """The `session#item` that the last citation of memories names."""
        return self._record.state.cited

    @property
    def queue(self) -> tuple[WaitingPrompt, ...]:
        return self._parts.work.queue.prompts

    @property
    def plan(self) -> Sequence[Step]:
        """The agent's plan, in order; empty where there is none, or it was done before."""
        return self._record.state.plan

    @property
    def last_ending(self) -> str:
        """How the last turn ended: `done`, `waiting`, `interrupted`, `failed`, or nothing yet."""
        return self._record.state.turn_state

    async def cold(self) -> str:
        """What the next request costs where the prompt cache has nothing of it, in a sentence;
        empty where it may have, or where that is not known."""
        if self._takes_nothing() or self.busy:
            return ""
        return await cold_said(
            self._record,
            self._parts.choice.connection,
            self._parts.clock,
            self._parts.prices,
            self.reading(),
            self.compaction.tokens_after,
        )

    def stream_count(self) -> StreamCount:
        """A count for text that streams in."""
        return StreamCount(self._record.gauge.counter)

    async def recount(self, counter: Counter) -> None:
        """Count the window again, with a counter that has its tokenizer by now."""
        await self._parts.choice.recount(counter)

    async def move_in(self) -> None:
        """Where another tool's set-up is before the window, put ours there.

        Raises `JournalError`.
        """
        await self._parts.front.move_in()

    async def count_front(self) -> None:
        """Count what the first request will carry before the window, where none went out yet."""
        await self._parts.front.foresee()

    async def warm(self) -> None:
        """Load what the first request needs. What fails here, the request will tell."""
        with suppress(ProviderError):
            await self._parts.choice.connection.provider.warm()

    def typed(self) -> None:
        """The user types: where it is wanted, the connection and the prompt cache get ready."""
        self._parts.prewarm.typed()

    def notified(self, what: str) -> None:
        """The user is told that a turn has ended or a question waits: hooks hear it, too."""
        self._parts.hooks.start("notification", message=what)

    def subscribe(self, listener: Callable[[Update], None]) -> Callable[[], None]:
        """Hear every update from now on. Returns how to stop."""
        return self._record.subscribe(listener)

    # What one can do

    @property
    def busy(self) -> bool:
        return self._parts.work.busy

    def send(
        self,
        text: str,
        pasted: Sequence[Span] = (),
        *,
        steers: bool = True,
        ours: bool = False,
    ) -> asyncio.Future[Ending]:
        """Start a turn with `text`; await it for how the turn ended.

        While a turn runs, the model gets it after the next tool results. Where there are none, or
        where it does not steer, it waits and starts a turn of its own.
        `pasted` are the spans that the user did not type; `ours` is a prompt of pinfold's own. One
        that is not sent comes back as `PromptReturned`. Whoever stops waiting does not stop the
        turn.
        """
        if why := self._takes_nothing():
            self._parts.work.refuse(text, why)
            return refused(why)
        return self._parts.work.send(Prompt(text, tuple(pasted), ours), steers=steers)

    def run_command(self, command: str) -> None:
        """Run the user's own shell command; what it prints enters the window."""
        busy = "This session is busy: Esc interrupts the turn." if self.busy else ""
        if why := self._takes_nothing() or busy:
            self._parts.work.refuse(f"!{command}", why)
        else:
            self._parts.work.command(command)

    def _takes_nothing(self) -> str:
        """Why nothing can be sent or run here, if so."""
        if self.read_only:
            return "This session is open to read only. /fork continues in a fork of it."
        if self._recorded:
            return (
                "This is a recording: nothing is sent and nothing runs. /fork continues in a fork."
            )
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

        return await self._parts.work.wait_for(
            lambda: work(CompactionTrigger(waited_for=True)), "compacting"
        )

    def reply_by(self, schema: Mapping[str, Any]) -> None:
        """Have replies obey a JSON schema, where the server can make them."""
        self._parts.requester.schema = schema

    def lend(self, terminal: Terminal) -> None:
        """Lend `terminal` to the user's own commands that ask for keys."""
        self._parts.work.terminal = terminal

    def review_by(self, reviewer: Reviewer) -> None:
        """Have the user decide on compactions where they are asked."""
        self._parts.triggers.reviewer = reviewer

    def play(self, events: Sequence[Event], speed: float, *, own: bool = False) -> None:
        """Write a recording down as if it happened now, `speed` times as fast; 0: at once.

        `own` puts this session's compactions, by its strategy at its threshold, in the place of the
        recorded ones.
        """
        self.files.elsewhere = self._recorded = True
        compact = partial(self._parts.triggers.check, "threshold", "mid_turn") if own else None
        playing = Playback(self._record, events, self._parts.clock, self.reading, compact)
        self._parts.work.play(playing, speed, told=own)

    @property
    def rounds(self) -> Sequence[Round]:
        """The compactions of the recording that was played."""
        return self._parts.work.rounds

    def interrupt(self) -> None:
        """End the turn, the command, the wait or the question under way. What came is kept."""
        self._parts.work.interrupt()

    def unqueue(self, queue_id: int) -> str:
        """Take a queued prompt back, to edit or drop it; its text, or nothing if it is gone."""
        return self._parts.work.queue.take_back(queue_id)

    async def set_model(self, name: str) -> None:
        """Use another model from the next request on.

        Where the window does not fit it, the preview asks first. Raises `ProviderError`, also
        where the user leaves that without making room, and `JournalError`.
        """
        if self.busy:
            raise ProviderError("A turn is running: interrupt it first, or wait for its end.")
        if self.children.running:
            raise ProviderError("Agents are at work: /agents stops them, or wait for their end.")
        parts = self._parts
        await parts.work.wait_for(lambda: parts.choice.switch(name, parts.triggers, parts.reading))

    async def forget_window(self) -> str:
        """Forget the context window that refused requests taught; what holds now, in a sentence.

        Raises `Refused`, `JournalError`.
        """
        return await self._parts.learning.forget()

    def set_tools(self, tools: Iterable[Tool]) -> None:
        """Have these tools beside the session's own from the next turn on: the front is written
        again then, and the user is told what that costs. Raises `Refused` during a turn."""
        if self.busy:
            raise Refused("A turn is running: tools change between turns.")
        self._parts.toolbox.change(tools)

    def set_approvals(self, mode: str) -> None:
        """Change what runs without a question, from the next call on. Raises `ValueError`."""
        self._parts.consent.set(mode)
        self.children.narrow()

    def set_threshold(self, to: str) -> None:
        """Take `auto`, `ask`, `off`, or a share of the usable window. Raises `ValueError`."""
        self._parts.limits.set(to)
        self._parts.triggers.acted()

    def save_draft(self, text: str, pasted: Sequence[str] = ()) -> None:
        """Keep what is being typed; it survives a crash. Raises `OSError`."""
        if not self.read_only:
            drafts.save(self.folder, text, pasted)

    def draft(self) -> drafts.Draft:
        return drafts.load(self.folder)

    async def idle(self) -> None:
        """Wait until nothing runs and nothing is left to write."""
        await self._parts.work.idle()
        await self._parts.checkpoint_file.written()

    async def close(self) -> None:
        """Interrupt what runs and release the journal and the model."""
        self._parts.work.closing = True
        self._parts.server_count.stop()
        await self.preparing.close()
        await self._parts.prewarm.close()
        self.interrupt()
        await self.idle()
        await self.children.close()
        await self._parts.background.jobs.close()
        await self._parts.hooks.close()
        try:
            await self._parts.choice.connection.provider.close()
            await self._parts.summarizing.close()
        finally:
            await self._record.close()
            await asyncio.to_thread(self._parts.confinement.clear)
