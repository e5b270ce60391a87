"""What strategies would keep of a live session."""

from collections.abc import Sequence

from pinfold.agent.projections import folded
from pinfold.compaction.budget import room
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.strategies.registry import registry
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.evaluation.recorded import cut_at
from pinfold.evaluation.recorded_scores import Measure, StrategyWindow
from pinfold.evaluation.recorded_trials import Wanted, items_of, made
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import Event, ItemAdded
from pinfold.tokens.counter import Counter

PAST = 0.8
"""The share of the items after which names that the agent used count as needed."""
SHOWN: tuple[Measure, ...] = ("need", "words", "changed", "read", "errors")


class SessionMoment:
    """A session now, and at `PAST` of its items. Slow to build and to ask: use a thread."""

    def __init__(
        self,
        events: Sequence[Event],
        view: WindowView,
        options: PlanOptions,
        model: ModelInfo,
        counter: Counter,
    ) -> None:
        self._options = options
        budget = room(view, options).target
        self.goal = view.correct_items(budget)
        """The tokens that a compaction aims at, corrected as a plan's sizes are."""
        self._wanted = Wanted(cut_at(events, len(events), len(events)), view, budget)
        self._past: tuple[WindowView, Wanted] | None = None
        added = [at for at, event in enumerate(events) if isinstance(event.data, ItemAdded)]
        if added:
            cut = cut_at(events, added[int(len(added) * PAST)], len(events))
            past = folded(cut.before, counter, "chat", cut.known).view(model)
            self._past = (past, Wanted(cut, past, budget))

    def kept(self, strategy: str, view: WindowView, plan: CompactionPlan) -> dict[Measure, float]:
        """What `plan` keeps; for `need`, what the strategy would have kept at `PAST`."""
        shares = self._wanted.kept_in(items_of(view, plan))
        if (before := self._before(strategy)) is not None and "need" in before.kept:
            shares["need"] = before.kept["need"]
        return {measure: shares[measure] for measure in SHOWN if measure in shares}

    def _before(self, strategy: str) -> StrategyWindow | None:
        if self._past is None:
            return None
        view, wanted = self._past
        return made(view, registry().strategies[strategy], "ours", wanted, self._options)
