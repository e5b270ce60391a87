"""Conversations and strategies for evaluations, small enough for tests."""

from collections.abc import Callable, Iterable
from functools import cache

from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.plan_builder import PlanBuilder
from pinfold.compaction.strategy import Material, ModelFree
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.evaluation.author import ComposedConversation, compose
from pinfold.evaluation.dialogues import dialogues
from pinfold.evaluation.trials import WINDOW, Setting
from pinfold.evaluation.truth import Truth
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter

BUDGET = 1_000
COUNTER = Counter("none")
"""Estimates: quick, and the same everywhere."""
MODEL = ModelInfo("", "", WINDOW * BUDGET, "config", max_output=0)
SETTING = Setting(BUDGET, COUNTER, MODEL)


@cache
def conversation(
    name: str = "invoice-rounding", *, seed: int = 1, compactions: int = 2
) -> ComposedConversation:
    dialogue = next(made for made in dialogues() if made.name == name)
    return compose(dialogue, seed, compactions=compactions, budget=BUDGET, count=COUNTER.count)


class Written(ModelFree):
    """Replaces all of the window by a text that is made of the truth, whatever that is then."""

    name = "written"

    def __init__(self, truths: Iterable[Truth], text: Callable[[Truth], str]) -> None:
        """`truths` are those at each compaction."""
        self._truths = iter(truths)
        self._text = text

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        builder = PlanBuilder(view)
        for entry in view.entries:
            if entry is not view.latest_request:
                builder.put(entry.n, "replace", "the text stands for it")
        builder.first = Item(n=0, kind="summary", content=self._text(next(self._truths)))
        return builder.build(self.name)


def lines(truth: Truth) -> list[str]:
    """All that is true, a line each."""
    return [*(statement.text for statement in truth.statements()), *truth.files]
