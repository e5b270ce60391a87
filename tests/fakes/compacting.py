"""Compaction over a window in memory: the real engine, and a journal that is a list."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fakes.summarizer import ScriptedSummarizer
from pinfold.agent.compaction.applying import SEE_LOST
from pinfold.agent.compaction.draft import Draft
from pinfold.agent.compaction.summarizing import Quote
from pinfold.agent.compaction.trigger import BY_HAND, CompactionTrigger
from pinfold.agent.requests.writing import Step
from pinfold.agent.steering.in_mind import Remembered, remembered
from pinfold.agent.updates import Told, Update
from pinfold.checkpoint.known import Known
from pinfold.compaction.engine import event_of, plan_with
from pinfold.compaction.loss import Loss, change_at, loss_by, loss_of
from pinfold.compaction.report import completion
from pinfold.compaction.strategies.registry import house
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.journal import JournalError
from pinfold.rollout.values import Usage

if TYPE_CHECKING:
    from fakes.session import MemoryRecord


class Writer(ScriptedSummarizer):
    """Writes once its gate is open; tells where it stands."""

    def __init__(self, answers: Iterable[str | Exception], told: Step, gate: asyncio.Event) -> None:
        super().__init__(answers)
        self._told = told
        self._gate = gate

    def step(self, name: str, done: float) -> None:
        self._told(name, done)

    async def __call__(
        self,
        instructions: str,
        text: str,
        max_tokens: int,
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> str:
        if not self._gate.is_set():
            self._told("summarising, 50 tokens written", 0.1)
        await self._gate.wait()
        return await super().__call__(instructions, text, max_tokens, schema=schema)


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
    asked: list[str] = field(default_factory=list)
    """Strategies for which a model wrote."""
    summary: str = ""
    """What it wrote; without it, it failed."""
    answers: list[str | Exception] = field(default_factory=list)
    """What it answers to `snapshot`, in place of that."""
    writing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set, unless a model at work is to be seen."""
    spent: Usage = field(default_factory=Usage)
    cost: float | None = None
    gate: asyncio.Event | None = None
    """Drafts and applications wait for it."""
    full_disk: bool = False

    @property
    def strategies(self) -> Sequence[str]:
        return tuple(house())

    def asks_model(self, strategy: str) -> bool:
        return house()[strategy].needs_model

    async def draft(
        self,
        strategy: str | None = None,
        options: PlanOptions | None = None,
        *,
        material: Material | None = None,
        told: Step | None = None,
        trigger: CompactionTrigger = BY_HAND,
    ) -> Draft:
        name, options = strategy or self.strategy, options or self.options
        self.drafted.append((name, options))
        if self.gate is not None:
            await self.gate.wait()
        told = told or (lambda *_: None)
        spent = Usage()
        if material is None and self.asks_model(name):
            self.asked.append(name)
            spent = self.spent
            material = await self._written(name, options, told)
        material = material or Material()
        told("swapping in", 0.9)
        view = self._view()
        plan = plan_with(name, view, material, options, strategies=house())
        return Draft(
            view, plan, name, options, trigger, material=material, spent=spent, cost=self.cost
        )

    async def _written(self, name: str, options: PlanOptions, told: Step) -> Material:
        if name == "snapshot" and self.answers:
            writer = Writer(self.answers, told, self.writing)
            return await house()[name].prepare(self._view(), writer, options)
        error = "" if self.summary else "The model is down."
        through = max(self.record.window.forms, default=0)
        return Material(self.summary, through=through, error=error)

    async def quote(self, tokens: int) -> Quote:
        return Quote("scripted-1", self.cost)

    def _view(self) -> WindowView:
        self._known()
        return self.record.projections.view(self.model())

    async def known(self) -> Known:
        return self._known()

    def _known(self) -> Known:
        return self.record.projections.catch_up()

    async def remembered(self, budget: int) -> Remembered:
        return remembered(self._known(), budget)

    async def lost(self, generation: int) -> Loss:
        window = self.record.window
        change = change_at(window, generation)
        return loss_by(change, window.archive, self._known().record.lines())

    async def loss(self, draft: Draft) -> Loss:
        return loss_of(draft.view, draft.plan)

    async def apply(self, draft: Draft) -> None:
        if self.gate is not None:
            await self.gate.wait()
        if self.full_disk:
            raise JournalError("The disk is full.")
        window = self.record.window
        next_n = max(window.archive, default=0) + 1
        self.record.take(event_of(draft.plan, next_n, window.generation + 1, "manual"))
        self.applied.append(draft)
        self.tell(Told(completion(draft.plan), hint=SEE_LOST))

    def keep_defaults(self, strategy: str, options: PlanOptions) -> None:
        self.strategy = strategy
        self.options = replace(options, keep=frozenset(), fold=frozenset(), text=None)
