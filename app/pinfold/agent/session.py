"""A session, as the screen, `exec` and the commands use it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from pinfold.agent.compaction.automatic import Reviewer
from pinfold.agent.compaction.draft import CompactionDraft
from pinfold.agent.compaction.trigger import CompactionTrigger
from pinfold.agent.playback.playback import Playback
from pinfold.agent.playback.rounds import Round
from pinfold.agent.record import BUSY
from pinfold.agent.requests.cold import cold_said
from pinfold.agent.session_facts import SessionFacts
from pinfold.agent.turn.ending import Ending, refused
from pinfold.agent.updates import Update
from pinfold.compaction.view import PlanOptions
from pinfold.ports.errors import ProviderError
from pinfold.ports.tool import Terminal
from pinfold.rollout import drafts
from pinfold.rollout.events import Event
from pinfold.rollout.provenance import Prompt, Span
from pinfold.tokens.counter import Counter
from pinfold.tokens.stream import StreamCount
from pinfold.window.refused import Refused

Answer = TypeVar("Answer")


class Session(SessionFacts):
    """One conversation. Its methods belong on the event loop."""

    async def cold(self) -> str:
        """A sentence on what the next request costs if the prompt cache has expired; empty if it
        may not have, or the price is unknown."""
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
        """Count the front of the first request, if none was sent yet."""
        await self._parts.front.foresee()

    async def warm(self) -> None:
        """Load what the first request needs. What fails here, the request will tell."""
        with suppress(ProviderError):
            await self._parts.choice.connection.provider.warm()

    def typed(self) -> None:
        """The user types: warm the connection and the prompt cache, if the settings say so."""
        self._parts.prewarm.typed()

    def notified(self, what: str) -> None:
        """Tell the hooks that the user is notified of an ended turn or a question."""
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
        expands: bool = False,
    ) -> asyncio.Future[Ending]:
        """Start a turn with `text`; await it for how the turn ended.

        While a turn runs, the model gets it after the next tool results. If there are none, or if
        it does not steer, it waits and starts a turn of its own.
        `pasted` are the spans that the user did not type; `ours` is a prompt of pinfold's own;
        `expands` is one that calls a skill or a command, and never steers. One that is not sent
        comes back as `PromptReturned`. Cancelling the future does not stop the turn.
        """
        if why := self._takes_nothing():
            self._parts.work.refuse(text, why)
            return refused(why)
        prompt = Prompt(text, tuple(pasted), ours, expands)
        return self._parts.work.send(prompt, steers=steers and not expands)

    def run_command(self, command: str) -> None:
        """Run the user's own shell command, after the turn that runs; what it prints enters the
        window."""
        if why := self._takes_nothing():
            self._parts.work.refuse(f"!{command}", why)
        else:
            self._parts.work.command(command)

    async def compact(
        self, strategy: str | None = None, options: PlanOptions | None = None
    ) -> CompactionDraft | None:
        """Compact by hand; prompts wait meanwhile. None if `interrupt` ended it.

        Raises `Refused`, `JournalError`, `OSError`.
        """
        return await self.compacting(
            lambda trigger: self.compaction.run(strategy, options, trigger=trigger)
        )

    async def compacting(
        self, work: Callable[[CompactionTrigger], Awaitable[Answer]]
    ) -> Answer | None:
        """Run work on a compaction by hand; prompts wait meanwhile. None if `interrupt` ended it.

        Raises `Refused`, and what `work` raises.
        """
        if self.busy:
            raise Refused(BUSY)
        return await self._parts.work.wait_for(
            lambda: work(CompactionTrigger(blocking=True)), "compacting"
        )

    def reply_by(self, schema: Mapping[str, Any]) -> None:
        """Have replies match a JSON schema, if the server can."""
        self._parts.requester.schema = schema

    def lend(self, terminal: Terminal) -> None:
        """Lend `terminal` to the user's own commands that ask for keys."""
        self._parts.work.terminal = terminal

    def review_by(self, reviewer: Reviewer) -> None:
        """Set who shows the preview when `auto` is `ask`."""
        self._parts.auto_compaction.reviewer = reviewer

    def play(self, events: Sequence[Event], speed: float, *, own: bool = False) -> None:
        """Play a recording, `speed` times as fast; 0 is at once.

        `own` puts this session's compactions, by its strategy at its threshold, in the place of the
        recorded ones.
        """
        self.files.elsewhere = self._recorded = True
        compact = (
            partial(self._parts.auto_compaction.check, "threshold", "mid_turn") if own else None
        )
        playing = Playback(self._record, events, self._parts.clock, self.reading, compact)
        self._parts.work.play(playing, speed, told=own)

    @property
    def rounds(self) -> Sequence[Round]:
        """The compactions of the recording that was played."""
        return self._parts.work.rounds

    def interrupt(self) -> None:
        """Stop the turn, command, wait or question that runs. What arrived is kept."""
        self._parts.work.interrupt()

    def unqueue(self, queue_id: int) -> str:
        """Take a queued prompt back; its text, or empty if it is gone."""
        return self._parts.work.queue.take_back(queue_id)

    async def set_model(self, name: str) -> None:
        """Use another model from the next request on.

        Where the window does not fit it, the preview asks first. Raises `ProviderError`, also
        where the user leaves that without making room, and `JournalError`.
        """
        if self.busy:
            raise ProviderError(BUSY)
        if self.children.running:
            raise ProviderError("Agents are running: wait, or stop them with /agents.")
        parts = self._parts
        await parts.work.wait_for(
            lambda: parts.choice.switch(name, parts.auto_compaction.fit_model)
        )

    async def forget_window(self) -> str:
        """Forget the learned context window; a sentence on the one used now.

        Raises `Refused`, `JournalError`.
        """
        return await self._parts.learning.forget()

    def set_approvals(self, mode: str) -> None:
        """Change what runs without a question, from the next call on. Raises `ValueError`."""
        self._parts.consent.set(mode)
        self.children.narrow()

    def set_threshold(self, to: str) -> None:
        """Take `auto`, `ask`, `off`, or a share of the usable window. Raises `ValueError`."""
        self._parts.limits.set(to)
        self._parts.auto_compaction.acted()

    def save_draft(self, text: str, pasted: Sequence[str] = ()) -> None:
        """Keep what is being typed; it survives a crash. Raises `OSError`."""
        if not self.read_only:
            drafts.save(self.folder, text, pasted)

    def draft(self) -> drafts.Draft:
        return drafts.load(self.folder)

    async def idle(self) -> None:
        """Wait until nothing runs and everything is written."""
        await self._parts.work.idle()
        await self._parts.checkpoint_file.written()

    async def close(self) -> None:
        """Stop what runs, and release the journal and the model."""
        self._parts.work.closing = True
        self._parts.server_count.stop()
        await self.preparing.close()
        await self._parts.prewarm.close()
        self.interrupt()
        await self.idle()
        await self.children.close()
        if self.servers is not None:
            await self.servers.close()
        await self._parts.background.jobs.close()
        await self._parts.hooks.close()
        try:
            await self._parts.choice.connection.close()
            await self._parts.summarizing.close()
        finally:
            await self._record.close()
            await asyncio.to_thread(self._parts.confinement.clear)
