"""A summary written in the background, so that the compaction itself waits for nothing."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from pinfold.agent.compacting import Compacting
from pinfold.agent.options import Limits, PreparingOptions
from pinfold.agent.record import Record
from pinfold.agent.summarizing import Summarizing
from pinfold.agent.updates import Appended, Preparation, Prepared, Update
from pinfold.compaction.strategies.snapshot import Snapshot
from pinfold.compaction.strategies.strategy import Material
from pinfold.rollout.events import Compaction, RequestFinished, WindowReplaced
from pinfold.window.reading import Reading

REFRESH = 0.05
"""Of the usable window, that it grows by before what is prepared is brought up to date."""
SMALLEST = 16_384
"""Tokens of the context window of a model that is worth asking."""
MAX_FAILURES = 2
"""In a row, after which nothing is prepared until the window has been replaced."""
OCCASION = Compaction(
    trigger="auto",
    reason="prepared",
    phase="background",
    implementation="local",
    strategy="snapshot",
)


@dataclass(frozen=True, slots=True)
class _Written:
    """A summary, and the window that it was written of."""

    material: Material
    generation: int
    used: int


class Preparing:
    """Begins on a turn's own requests, so it rests when the user does, and when it is asked for."""

    def __init__(
        self,
        record: Record,
        compacting: Compacting,
        summarizing: Summarizing,
        reading: Callable[[], Reading],
        limits: Limits,
        options: PreparingOptions,
    ) -> None:
        self.wanted = options.wanted
        self.state: Preparation = ""
        self._record = record
        self._compacting = compacting
        self._summarizing = summarizing
        self._reading = reading
        self._limits = limits
        self._options = options
        self._written: _Written | None = None
        self._task: asyncio.Task[None] | None = None
        self._failures = 0
        compacting.prepared = self.material
        record.subscribe(self._hear)

    def material(self) -> Material | None:
        """What is ready for the window of now."""
        written = self._written
        if written is None or written.generation != self._record.window.generation:
            return None
        return written.material

    def switch(self, *, on: bool) -> None:
        """Prepare from now on, or no longer; what is ready stays."""
        self.wanted = on
        if not on:
            self.stop()
        else:
            self._failures = 0
            self._consider()

    def reset(self) -> None:
        """Another model goes on from here."""
        self._failures = 0
        self.stop()

    def stop(self) -> None:
        """Break off what is being written."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
            self._tell()

    def _hear(self, update: Update) -> None:
        if not isinstance(update, Appended):
            return
        match update.event.data:
            case RequestFinished(purpose="turn", status="ok"):
                self._consider()
            case WindowReplaced():
                self._failures = 0
                self._written = None
                self.stop()
                self._tell()

    def _consider(self) -> None:
        """Begin to write where the window calls for it and the budget allows it."""
        if not self.wanted or self._task is not None or self._failures >= MAX_FAILURES:
            return
        if self._record.journal.read_only:
            return
        if self._limits.auto == "off" or self._compacting.strategy != "layered":
            return
        reading = self._reading()
        if reading.used < self._options.threshold * reading.usable:
            return
        known = self._written
        if known is not None and reading.used - known.used < REFRESH * reading.usable:
            return
        unread = reading.used if known is None else reading.used - known.used
        if unread > self._left:
            return
        self._task = asyncio.create_task(self._write(reading.used))
        self._tell()

    @property
    def _left(self) -> int:
        """Tokens of its budget."""
        state = self._record.state
        return int(self._options.budget * state.spent_on_turns) - state.spent_preparing

    async def _write(self, used: int) -> None:
        generation = self._record.window.generation
        try:
            material = await self._made()
        except Exception:  # what can't be prepared is done without: the journal has why
            self._failures += 1
        else:
            if material is not None:
                self._failures = 0
                self._written = _Written(material, generation, used)
                await self._rehearse(material)
        self._task = None
        self._tell()

    async def _made(self) -> Material | None:
        await self._compacting.permit(OCCASION)
        summarizer = await self._summarizing.summarizer(OCCASION, _quietly, lambda: self._left)
        if summarizer.model.context_window < SMALLEST:
            self._failures = MAX_FAILURES
            return None
        view = await self._compacting.view()
        options, known = self._compacting.options, self.material()
        if known is None:
            return await Snapshot().prepare(view, summarizer, options)
        return await Snapshot().renew(known, view, summarizer, options)

    async def _rehearse(self, material: Material) -> None:
        """Plan once for nothing: what is counted now is known when a turn waits for it."""
        with suppress(Exception):  # whether it can be applied is asked when it is
            await self._compacting.draft("layered", material=material, told=_quietly)

    def _tell(self) -> None:
        state: Preparation = "ready" if self.material() is not None else ""
        if self._task is not None:
            state = "preparing"
        if state != self.state:
            self.state = state
            self._record.tell(Prepared(state))

    async def close(self) -> None:
        """Break off, and wait for the end of it."""
        self.wanted = False
        task = self._task
        self.stop()
        if task is not None:
            with suppress(asyncio.CancelledError):
                await task


def _quietly(*_: object) -> None:
    """Nobody watches it."""
