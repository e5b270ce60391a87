"""Strategies that need no model, tried on recorded sessions, at equal budgets."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from pinfold.agent.projections import Projections, folded
from pinfold.compaction import engine
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.rendering import rendered
from pinfold.compaction.strategy import Material, Strategy
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.evaluation.evaluate import Chosen
from pinfold.evaluation.recorded import SessionCut, cuts_of, spaced, text_of
from pinfold.evaluation.recorded_scores import (
    OWN,
    CutResult,
    Measure,
    Origin,
    SessionResult,
    StrategyWindow,
    rows,
)
from pinfold.evaluation.trials import SLACK, WINDOW
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import Event, ItemAdded
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter

BUDGET = 8_000
"""Tokens: the default."""


class Wanted:
    """What a new window should still hold of the old one."""

    def __init__(self, cut: SessionCut, view: WindowView, budget: int) -> None:
        self._names: dict[Measure, frozenset[str]] = {
            "need": cut.needed,
            "letter": frozenset(name.text for name in cut.used),
            "memory": frozenset(name.text for name in cut.recalled),
            "changed": cut.changed,
            "read": cut.read,
        }
        self._words: dict[Measure, tuple[str, ...]] = {
            "errors": tuple(cut.errors.values()),
            "words": tuple(_user_words(view, budget)),
        }

    def kept_in(self, items: Sequence[Item]) -> dict[Measure, float]:
        """The share of each measure that `items` hold."""
        text = "\n".join(map(text_of, items))
        plain = spaced(text)
        kept = {
            measure: fmean(name in text for name in wanted)
            for measure, wanted in self._names.items()
            if wanted
        }
        kept |= {
            measure: fmean(spaced(words) in plain for words in wanted)
            for measure, wanted in self._words.items()
            if wanted
        }
        return kept


def _user_words(view: WindowView, budget: int) -> Iterator[str]:
    for entry in reversed(view.entries):
        if entry.item.kind == "user" and entry.item.content.strip():
            budget -= entry.full
            if budget < 0:
                return
            yield entry.item.content


def tried(
    name: str,
    tool: str,
    events: Sequence[Event],
    budget: int,
    strategies: Sequence[Chosen],
    counter: Counter,
) -> SessionResult:
    """What each strategy and the recording tool itself keep at every cut of a session."""
    found: list[CutResult] = []
    small = 0
    for cut in cuts_of(events):
        result = _cut_result(cut, budget, strategies, counter)
        if result.tokens > budget:
            found.append(result)
        else:
            small += 1
    items = sum(isinstance(event.data, ItemAdded) for event in events)
    return SessionResult(name, tool, items, tuple(found), small, rows(found, budget, SLACK))


def _cut_result(
    cut: SessionCut, budget: int, strategies: Sequence[Chosen], counter: Counter
) -> CutResult:
    projections = folded(cut.before, counter, "chat", cut.known)
    view = view_within(projections, budget)
    options = PlanOptions(target_pct=1 / WINDOW)
    found: list[StrategyWindow] = []
    if view.tokens > budget:
        wanted = Wanted(cut, view, budget)
        view.known.record.catch_up()  # so that it is not timed with the first strategy
        found = [made(view, strategy, kind, wanted, options) for strategy, kind in strategies]
        if cut.compaction is not None:
            projections.step(cut.compaction)
            kept = wanted.kept_in(projections.window.items)
            found.append(
                StrategyWindow(OWN, "recording", kept, tokens=sum(projections.gauge.tokens))
            )
    last = max((item.n for item in cut.items), default=0)
    return CutResult(last, cut.compaction is not None, view.tokens, tuple(found))


def view_within(projections: Projections, budget: int) -> WindowView:
    """The window of a model with `WINDOW` budgets; what stands before it does not count."""
    model = ModelInfo("", "", WINDOW * budget, "config", max_output=0)
    return replace(projections.view(model), context_tokens=0, correct_request=int)


def made(
    view: WindowView, strategy: Strategy, origin: Origin, wanted: Wanted, options: PlanOptions
) -> StrategyWindow:
    """The window that a strategy makes. If it fails, no other replaces it."""
    view = replace(view, memo={})
    begun = time.perf_counter()
    try:
        plan = strategy.plan(view, Material(), options)
        engine.validate(view, plan)
    except Exception as error:  # a third party's may raise anything
        return StrategyWindow(strategy.name, origin, not_run=str(error) or type(error).__name__)
    milliseconds = (time.perf_counter() - begun) * 1e3
    kept = wanted.kept_in(items_of(view, plan))
    return StrategyWindow(strategy.name, origin, kept, plan.sizes.after, round(milliseconds, 2))


def items_of(view: WindowView, plan: CompactionPlan) -> tuple[Item, ...]:
    """The items of the next window, as a request carries them."""
    return tuple(shown.item for shown in rendered(view, plan.window, plan.inserted))
