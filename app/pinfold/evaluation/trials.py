"""A trial: one conversation under several strategies, scored before and after each compaction."""

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

from pinfold.agent.projections import Projections
from pinfold.agent.requests.writing import Writer
from pinfold.checkpoint.known import Known
from pinfold.compaction import engine
from pinfold.compaction.strategy import Material, Strategy
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.evaluation.author import ComposedConversation, Stretch
from pinfold.evaluation.probes import WindowText
from pinfold.evaluation.scores import Probe
from pinfold.evaluation.script import at
from pinfold.evaluation.truth import Truth
from pinfold.ports.errors import ProviderError
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import Data, Event, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.values import Usage
from pinfold.tokens.counter import Counter
from pinfold.window.refused import Refused

WINDOW = 8
"""The model's context window in budgets: a whole stretch always fits."""
NO_MODEL = "needs a model: --model NAME"
NOT_GRADED = "not graded"
SLACK = 1.05
"""Up to this multiple of the budget a window counts as within it."""

Graded = dict[Probe, float]
Step = Callable[[str], Awaitable[None]]
"""Called with a strategy's name before each compaction."""


Questioner = Callable[[Sequence[Item], Truth], Awaitable[Graded]]
"""Asks a model about a window, and has the answers graded. Raises `ProviderError`, `Refused`."""


@dataclass(frozen=True)
class Reached:
    """A point of a trial."""

    read: Graded
    asked: Graded | None
    tokens: int
    within: bool
    ungraded: bool
    """Whether grades are missing although a model was asked."""


@dataclass
class Trial:
    """One strategy on one conversation."""

    strategy: str
    points: list[Reached] = field(default_factory=list)
    not_run: str = ""
    """Why it stopped early."""
    plan_ms: list[float] = field(default_factory=list)
    prepare_seconds: list[float] = field(default_factory=list)
    spent: Usage | None = None
    """By the model that wrote for the strategy."""
    notes: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True)
class Setting:
    budget: int
    counter: Counter
    model: ModelInfo
    """Its window is `WINDOW` budgets."""
    speaker: Writer | None = None
    """Writes for strategies that need a model."""
    questioner: Questioner | None = None

    @property
    def options(self) -> PlanOptions:
        return PlanOptions(target_pct=1 / WINDOW)


async def _no_step(_strategy: str) -> None:
    pass


async def run(
    conversation: ComposedConversation,
    strategies: Iterable[Strategy],
    setting: Setting,
    step: Step = _no_step,
) -> list[Trial]:
    """Compact after each stretch. A strategy that fails is replaced by no other."""
    known, numbers = Known(), count(1)
    runs = [_Run(strategy, setting, known) for strategy in strategies]
    start: Reached | None = None
    for stretch in conversation.stretches:
        for data, seq in zip(stretch.events, numbers, strict=False):
            known.step(Event(seq, at(seq), data))
        known.record.catch_up()
        for attempt in runs:
            if not attempt.trial.not_run:
                await step(attempt.trial.strategy)
            attempt.take(stretch.events)
            start = start or await attempt.reached(stretch.truth)
            if not attempt.trial.not_run:
                attempt.trial.points = attempt.trial.points or [start]
                await attempt.compact(stretch)
    return [attempt.trial for attempt in runs]


class _Run:
    def __init__(self, strategy: Strategy, setting: Setting, known: Known) -> None:
        """`known` is what the host knows apart from windows; no compaction changes it."""
        self.trial = Trial(strategy.name)
        self._strategy = strategy
        self._setting = setting
        self._projections = Projections(setting.counter, "chat", known=known)
        if strategy.needs_model and setting.speaker is None:
            self.trial.not_run = NO_MODEL

    def take(self, events: Sequence[Data]) -> None:
        for data in events:
            seq = self._projections.seq + 1
            self._projections.step(Event(seq, at(seq), data))

    async def compact(self, stretch: Stretch) -> None:
        """Go to the next point, or set `not_run`."""
        try:
            self.take([await self._replacement()])
        except Exception as error:  # a third party's strategy may raise anything
            self.trial.not_run = str(error) or type(error).__name__
        else:
            self.trial.points.append(await self.reached(stretch.truth))

    async def reached(self, truth: Truth) -> Reached:
        """Probe the window as the next request would carry it."""
        setting = self._setting
        items = self._projections.window.items
        asked: Graded | None = None
        if setting.questioner is not None:
            try:
                asked = await setting.questioner(items, truth)
            except (Refused, ProviderError) as error:
                self.trial.notes[f"{NOT_GRADED}: {error}"] = None
        tokens = sum(self._projections.gauge.tokens)
        within = tokens <= SLACK * setting.budget
        ungraded = setting.questioner is not None and asked is None
        return Reached(WindowText(items).scores(truth), asked, tokens, within, ungraded)

    async def _replacement(self) -> WindowReplaced:
        """Raises `Refused`, `ProviderError`."""
        setting, strategy, trial = self._setting, self._strategy, self.trial
        material = await self._material() if strategy.needs_model else Material()
        view = self._view()  # a new one: nothing is cached in it yet
        begun = time.perf_counter()
        plan = strategy.plan(view, material, setting.options)
        engine.validate(view, plan)
        trial.plan_ms.append((time.perf_counter() - begun) * 1e3)
        window = self._projections.window
        return engine.event_of(plan, max(window.archive) + 1, window.generation + 1, "manual")

    async def _material(self) -> Material:
        """Raises `Refused`, `ProviderError`."""
        setting, trial, speaker = self._setting, self.trial, self._setting.speaker
        assert speaker is not None
        before, begun = speaker.spent, time.perf_counter()
        try:
            material = await self._strategy.prepare(self._view(), speaker, setting.options)
            trial.notes.update(dict.fromkeys((*material.told, *material.notes)))
            return material
        finally:
            trial.prepare_seconds.append(time.perf_counter() - begun)
            trial.spent = (trial.spent or Usage()) + (speaker.spent - before)

    def _view(self) -> WindowView:
        return self._projections.view(self._setting.model)
