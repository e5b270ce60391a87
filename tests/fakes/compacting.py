"""Compaction over a window in memory: the real engine, and a journal that is a list."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pinfold.agent.compacting import Draft
from pinfold.agent.updates import Told, Update
from pinfold.checkpoint.ledger import Ledger
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.compaction.engine import event_of, plan_with
from pinfold.compaction.loss import Loss, loss_of
from pinfold.compaction.report import Report, completion, report_of
from pinfold.compaction.strategies.registry import house
from pinfold.compaction.strategies.strategy import Material
from pinfold.compaction.view import PlanOptions, view_of
from pinfold.ports import ModelInfo
from pinfold.rollout.journal import JournalError

if TYPE_CHECKING:
    from fakes.session import MemoryRecord


@dataclass
class FakeCompacting:
    """What a screen needs of `agent.compacting.Compacting`."""

    record: "MemoryRecord"
    model: Callable[[], ModelInfo]
    tell: Callable[[Update], None]
    strategy: str = "layered"
    options: PlanOptions = field(default_factory=PlanOptions)
    drafted: list[tuple[str, PlanOptions]] = field(default_factory=list)
    applied: list[Draft] = field(default_factory=list)
    gate: asyncio.Event | None = None
    """Drafts and applications wait for it."""
    full_disk: bool = False

    @property
    def strategies(self) -> Sequence[str]:
        return tuple(house())

    async def draft(self, strategy: str | None = None, options: PlanOptions | None = None) -> Draft:
        name, options = strategy or self.strategy, options or self.options
        self.drafted.append((name, options))
        if self.gate is not None:
            await self.gate.wait()
        checkpoint, ledger = CheckpointState(), Ledger()
        for event in self.record.events:
            checkpoint.step(event)
            ledger.step(event)
        view = view_of(
            self.record.window,
            self.record.gauge,
            checkpoint.snapshot(),
            ledger,
            self.model(),
            self.record.state.goal,
        )
        plan = plan_with(name, view, Material(), options, strategies=house())
        return Draft(view, plan, report_of(view, plan), name, options)

    async def loss(self, draft: Draft) -> Loss:
        return loss_of(draft.view, draft.plan)

    async def apply(self, draft: Draft, reason: str = "manual") -> Report:
        if self.gate is not None:
            await self.gate.wait()
        if self.full_disk:
            raise JournalError("The disk is full.")
        window = self.record.window
        next_n = max(window.archive, default=0) + 1
        self.record.add(event_of(draft.plan, next_n, window.generation + 1, reason))
        self.applied.append(draft)
        self.tell(Told(completion(draft.report)))
        return draft.report

    def keep_defaults(self, strategy: str, options: PlanOptions) -> None:
        self.strategy = strategy
        self.options = replace(options, keep=frozenset(), fold=frozenset(), text=None)
