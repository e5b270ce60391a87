"""Writes a summary in the background, so that the compaction need not wait for it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Literal

from pinfold.agent.compaction.compacting import Compacting
from pinfold.agent.compaction.ready import PreparedSummary, Ready
from pinfold.agent.compaction.summarizing import Summarizing
from pinfold.agent.options import Limits, PreparingOptions
from pinfold.agent.record import Record
from pinfold.agent.updates import Appended, Preparation, Prepared, Update
from pinfold.compaction.strategies.registry import traits
from pinfold.compaction.strategies.snapshot import Snapshot
from pinfold.compaction.strategy import Material
from pinfold.compaction.summary import entries_of
from pinfold.numbers import tokens
from pinfold.rollout.events import (
    CompactionFinished,
    ModelChanged,
    RequestFinished,
    WindowReplaced,
)
from pinfold.rollout.items import Kind
from pinfold.rollout.values import Compaction
from pinfold.window.reading import GaugeReading

REFRESH = 0.10
"""Of the usable window, that it grows by before what is prepared is brought up to date."""
SMALLEST = 16_384
"""Tokens of the context window of a model that is worth asking."""
MAX_FAILURES = 2
"""In a row; then nothing is prepared until the window is replaced."""
_LASTING: frozenset[Kind] = frozenset({"user", "assistant", "tool_call", "tool_result"})
"""Kinds of items that no compaction makes again."""
PREPARATION = Compaction(
    trigger="auto",
    reason="prepared",
    phase="background",
    implementation="local",
    strategy=Snapshot.name,
)


class Preparing:
    """Starts after a turn's requests, so it rests when the user does."""

    def __init__(
        self,
        record: Record,
        compacting: Compacting,
        summarizing: Summarizing,
        reading: Callable[[], GaugeReading],
        limits: Limits,
        options: PreparingOptions,
        ready: Ready,
    ) -> None:
        self.wanted = options.wanted
        self.state: Preparation = ""
        self._record = record
        self._compacting = compacting
        self._summarizing = summarizing
        self._reading = reading
        self._limits = limits
        self._options = options
        self._ready = ready
        self._task: asyncio.Task[None] | None = None
        self._failures = 0
        self._settled = record.state.spent_preparing
        """Tokens of summaries of which it is known what became of them."""
        self._why = ""
        """Why what is being written is broken off."""
        self._telling: set[asyncio.Task[None]] = set()
        record.subscribe(self._hear)

    def switch(self, *, on: bool) -> None:
        """Prepare from now on, or no longer; what is ready stays."""
        self.wanted = on
        if not on:
            self.stop("you turned it off")
        else:
            self._failures = 0
            self._start_if_due()

    def stop(self, why: str) -> None:
        """Stop the summary that is being written."""
        if self._task is not None:
            self._why = why
            self._task.cancel()
            self._task = None
            self._tell()

    def _hear(self, update: Update) -> None:
        if not isinstance(update, Appended):
            return
        match update.event.data:
            case RequestFinished(purpose="turn", status="ok"):
                self._start_if_due()
            case ModelChanged():
                self._failures = 0
                self.stop("another model was chosen")
            case WindowReplaced() as replaced:
                self._failures = 0
                self._settle(replaced)
                self.stop("the window was replaced before it was written")
                self._tell()

    def _settle(self, replaced: WindowReplaced) -> None:
        """Decide what happens to the summary that is ready."""
        written, self._ready.written = self._ready.written, None
        if written is None:
            return
        ours = traits(replaced.strategy or "").takes_prepared
        if ours and any(entries_of(item) for item in replaced.inserted):
            self._settled = self._record.state.spent_preparing
        elif written.items <= {n for n, _ in replaced.window}:
            # Masks alone: what it stands for is still there.
            used = min(written.used, self._reading().used)
            self._ready.written = replace(written, generation=replaced.generation, used=used)
        else:
            by = f"compacted by {replaced.strategy}" if replaced.strategy else "undone"
            task = asyncio.create_task(self._report_unused(f"the window was {by}"))
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)

    async def _report_unused(
        self, why: str, status: Literal["failed", "cancelled"] = "cancelled"
    ) -> None:
        """Journal and tell why a summary that was paid for is not used."""
        state = self._record.state
        spent, self._settled = state.spent_preparing - self._settled, state.spent_preparing
        if not spent:
            return
        finished = CompactionFinished(compaction=PREPARATION, status=status, error=why)
        with suppress(Exception):  # a full disk is told by what matters
            await self._record.append(finished)
        took = f"It took {tokens(spent)} tokens."
        self._record.warn(f"The background summary is not used: {why}. {took}")

    def _start_if_due(self) -> None:
        """Start writing if the window is full enough and the budget allows it."""
        if not self.wanted or self._task is not None or self._failures >= MAX_FAILURES:
            return
        if self._record.journal.read_only:
            return
        if self._limits.auto == "off" or not traits(self._compacting.strategy).takes_prepared:
            return
        reading = self._reading()
        if reading.used < self._options.threshold * reading.usable:
            return
        known = self._ready.written
        if known is not None and reading.used - known.used < REFRESH * reading.usable:
            return
        unread = reading.used if known is None else reading.used - known.used
        if unread > self._budget_left:
            return
        self._task = asyncio.create_task(self._write(reading.used))
        self._tell()

    @property
    def _budget_left(self) -> int:
        state = self._record.state
        return int(self._options.budget * state.spent_on_turns) - state.spent_preparing

    async def _write(self, used: int) -> None:
        generation = self._record.window.generation
        try:
            material = await self._new_material()
        except asyncio.CancelledError:
            if self._ready.material() is None:  # else what was written before still serves
                await self._report_unused(self._why)
            raise
        except Exception as error:  # what can't be prepared is done without
            self._failures += 1
            if self._ready.material() is None:
                await self._report_unused(f"none could be written: {error}", "failed")
        else:
            if material is not None:
                self._failures = 0
                self._ready.written = PreparedSummary(
                    material, self._summarised(material), generation, used
                )
                await self._rehearse(material)
        self._task = None
        self._tell()

    async def _new_material(self) -> Material | None:
        await self._compacting.permit(PREPARATION)
        summarizer = await self._summarizing.summarizer(
            PREPARATION, _quietly, lambda: self._budget_left
        )
        if summarizer.model.context_window < SMALLEST:
            self._failures = MAX_FAILURES
            return None
        view = await self._compacting.view()
        options, known = self._compacting.options, self._ready.material()
        if known is None:
            return await Snapshot().prepare(view, summarizer, options)
        return await Snapshot().renew(known, view, summarizer, options)

    def _summarised(self, material: Material) -> frozenset[int]:
        """The items that it summarises."""
        items = (shown.item for shown in self._record.window.shown)
        return frozenset(
            item.n for item in items if item.n <= material.through and item.kind in _LASTING
        )

    async def _rehearse(self, material: Material) -> None:
        """Plan once, so that all tokens are counted before a turn waits for it."""
        with suppress(Exception):  # whether it can be applied is asked when it is
            await self._compacting.draft(material=material, told=_quietly)

    def _tell(self) -> None:
        state: Preparation = "ready" if self._ready.material() is not None else ""
        if self._task is not None:
            state = "preparing"
        if state != self.state:
            self.state = state
            self._record.tell(Prepared(state))

    async def close(self) -> None:
        """Stop, and wait until it has."""
        self.wanted = False
        task = self._task
        self.stop("the session was closed")
        if task is not None:
            with suppress(asyncio.CancelledError):
                await task
        if self._telling:
            await asyncio.wait(self._telling)
        if self._ready.written is not None:
            await self._report_unused("the session was closed before the window was full")


def _quietly(*_: object) -> None:
    """Report no progress."""
