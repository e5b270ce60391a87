"""Compacting the window: as the user decides, and by itself before a request that needs it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pinfold.agent import window_files
from pinfold.agent.memory import Memory
from pinfold.agent.options import Limits
from pinfold.agent.record import Record
from pinfold.agent.updates import Appended, Told, Update
from pinfold.checkpoint import persist
from pinfold.checkpoint.ledger import Ledger
from pinfold.checkpoint.model import CheckpointV1
from pinfold.compaction import engine, guards
from pinfold.compaction.guards import Cause, Past
from pinfold.compaction.loss import Loss, loss_of
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.report import Report, completion, report_of
from pinfold.compaction.strategies.registry import registry
from pinfold.compaction.strategies.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView, view_of
from pinfold.ports import ModelInfo
from pinfold.rollout.events import Data, WindowReplaced
from pinfold.window.reading import Reading
from pinfold.window.refused import Refused

BELOW = 0.7
"""Of the threshold, that a compaction by itself aims at, at most."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan that may be applied, with what it was made from."""

    view: WindowView
    plan: CompactionPlan
    report: Report
    strategy: str
    """The one that was asked for; the plan tells which one it is."""
    options: PlanOptions
    revision: int = 0
    """The window's, when it was made."""


class Compacting:
    """`Session.compaction`. Whatever fails leaves the window as it was."""

    def __init__(
        self,
        record: Record,
        memory: Memory,
        cwd: Path,
        model: Callable[[], ModelInfo],
        reading: Callable[[], Reading],
        limits: Limits,
        busy: Callable[[], bool],
        strategy: str,
        options: PlanOptions,
    ) -> None:
        self.strategy = strategy
        self.options = options
        self.reviewer: Callable[[], Awaitable[bool]] | None = None
        """Shows the preview and waits for its end: whether it was applied."""
        self._record = record
        self._memory = memory
        self._cwd = cwd
        self._model = model
        self._reading = reading
        self._limits = limits
        self._busy = busy
        self._in_turn = False
        """The turn that runs waits for us."""
        self._past = Past()
        record.subscribe(self._hear)

    @property
    def strategies(self) -> Sequence[str]:
        return tuple(registry().strategies)

    def keep_defaults(self, strategy: str, options: PlanOptions) -> None:
        """Use these from now on in this session, but for what was said of single items."""
        self.strategy = strategy
        self.options = replace(options, keep=frozenset(), fold=frozenset(), text=None)

    async def draft(
        self,
        strategy: str | None = None,
        options: PlanOptions | None = None,
        *,
        must_gain: bool = False,
    ) -> Draft:
        """The next window, not applied. Raises `Refused`, `JournalError`, `ProviderError`."""
        record, name = self._record, strategy or self.strategy
        options = options or self.options
        checkpoint, ledger = await self._memory.now()
        revision = record.window.revision
        view = view_of(
            record.window,
            record.gauge,
            checkpoint,
            ledger,
            self._model(),
            record.state.goal,
            cwd=str(self._cwd),
        )
        plan = await asyncio.to_thread(
            engine.plan_with, name, view, Material(), options, must_gain=must_gain
        )
        return Draft(view, plan, report_of(view, plan), name, options, revision)

    async def checkpoint(self) -> tuple[CheckpointV1, Ledger]:
        """What is kept in mind beside the window, as of now. Raises `JournalError`."""
        return await self._memory.now()

    async def loss(self, draft: Draft) -> Loss:
        """What would stand nowhere in the next request."""
        return await asyncio.to_thread(loss_of, draft.view, draft.plan)

    async def apply(self, draft: Draft, reason: str = "manual") -> Report:
        """Make it the window. Raises `Refused`, `JournalError`, `OSError`."""
        record, plan = self._record, draft.plan
        window = record.window
        self._check_fit(draft)
        await asyncio.to_thread(window_files.save, record.journal.folder, window)

        def make(n: int) -> list[Data]:
            self._check_fit(draft)  # again: a prompt or a pin may have come meanwhile
            return [engine.event_of(plan, n, window.generation + 1, reason)]

        await record.add(make)
        with suppress(OSError):  # a copy; it can be made again
            await asyncio.to_thread(persist.save, record.journal.folder, draft.view.checkpoint)
        self._past = self._past.succeeded(self._reading().used)
        record.tell(Told(completion(draft.report)))
        return draft.report

    def _check_fit(self, draft: Draft) -> None:
        window = self._record.window
        if self._record.journal.read_only:
            raise Refused("This session is open to read only. Fork it to go on: /fork.")
        if self._busy() and not self._in_turn:
            raise Refused("A turn is running: press Esc first, or wait for its end.")
        numbers = [each.n for each in draft.plan.items]
        if window.revision != draft.revision or list(window.forms) != numbers:
            raise Refused("The window has changed since the preview: look at it anew.")

    # By itself

    def prompted(self) -> None:
        """The user sent a prompt."""
        self._past = self._past.prompted()

    def _hear(self, update: Update) -> None:
        if isinstance(update, Appended):
            data = update.event.data
            if isinstance(data, WindowReplaced) and data.reason in ("undo", "restore"):
                self._past = self._past.undid()

    def acted(self) -> None:
        """The user changed how or whether to compact."""
        self._past = self._past.acted()

    async def check_in_turn(self, cause: Cause) -> bool:
        """Like `check`, for the turn that runs and waits for it."""
        self._in_turn = True
        try:
            return await self.check(cause)
        finally:
            self._in_turn = False

    async def check(self, cause: Cause) -> bool:
        """Compact where the window calls for it; whether that was done. Raises nothing."""
        limits = self._limits
        reading = self._reading()
        step = guards.should(
            cause,
            reading.used,
            reading.usable,
            limits.threshold,
            limits.auto,
            self._past,
            waiting=not self._in_turn and self._record.state.turn_state == "waiting",
        )
        if step == "wait":
            return False
        if step == "ask" and self.reviewer is not None:
            return await self.reviewer()
        try:
            # What is left must lie well below the threshold, or it would be passed again at once.
            target = min(self.options.target_pct, limits.threshold * BELOW)
            options = replace(self.options, target_pct=target)
            draft = await self.draft(options=options, must_gain=cause == "threshold")
            await self.apply(draft, cause)
        except Exception as error:  # the turn must go on, whatever it is
            self._past = self._past.failed()
            stopped = self._past.failures == guards.MAX_FAILURES
            more = " Nothing is compacted by itself any more until you act." if stopped else ""
            self._record.warn(f"Not compacted: {error}{more}")
            return False
        return True
