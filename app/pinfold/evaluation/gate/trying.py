"""Compacts a session as a rule says, and checks what its window keeps."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from pinfold.agent.projections import folded
from pinfold.agent.requests.writing import Writer
from pinfold.compaction import engine
from pinfold.compaction.rendering import rendered_now
from pinfold.compaction.strategies.registry import registry
from pinfold.compaction.strategy import Material, Strategy
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.evaluation.gate.keeping import KeptLine, RuleCheck, answered, kept_in
from pinfold.evaluation.gate.rules import GateQuestion
from pinfold.evaluation.recorded_trials import items_of, view_within
from pinfold.evaluation.trials import WINDOW
from pinfold.ports.errors import ProviderError
from pinfold.rollout.context import Context
from pinfold.rollout.events import Event
from pinfold.rollout.items import Item
from pinfold.settings import strategy_named
from pinfold.tokens.counter import Counter
from pinfold.window.refused import Refused

MOST_ANSWER = 2_000
"""Tokens; some models think before they write."""
ASKED = """\
Before you continue, answer this from this conversation alone, without using any tool. Give names, \
numbers, paths and dates exactly. Say "unknown" where you don't know.

"""


def tried(events: Sequence[Event], settings: Mapping[str, Any], counter: Counter) -> RuleCheck:
    """What a strategy that needs no model keeps of a session at its end.

    `settings` are plain data: `strategy`, `budget`, `keeps`, `questions`, `compact`.
    """
    strategy, options = _strategy(settings), _options(settings)
    view = view_within(folded(events, counter, "chat"), settings["budget"])
    try:
        items, tokens = _next_window(view, strategy, Material(), options, settings["budget"])
    except Exception as error:  # a third party's may raise anything
        return _not_run(settings, error)
    lines = kept_in(settings["keeps"], _questions(settings), items)
    return RuleCheck(tuple(lines), tokens)


async def tried_with(
    writer: Writer,
    instructions: str,
    events: Sequence[Event],
    settings: Mapping[str, Any],
    counter: Counter,
    runs: int,
) -> RuleCheck:
    """The median of `runs` runs (the lower of two in the middle). In each, `writer` writes for the
    strategy and answers the questions in the new window."""
    strategy, options = _strategy(settings), _options(settings)
    found: list[RuleCheck] = []
    for _ in range(runs):
        view = view_within(folded(events, counter, "chat"), settings["budget"])
        try:
            needs = strategy.needs_model
            material = await strategy.prepare(view, writer, options) if needs else Material()
            items, tokens = _next_window(view, strategy, material, options, settings["budget"])
            lines = [*kept_in(settings["keeps"], (), items)]
            for question in _questions(settings):
                asked = f"{ASKED}{question.question}"
                context = Context(instructions=instructions)
                reply = await writer.write(context, items, asked, MOST_ANSWER)
                lines.append(answered(question, reply.text))
        except (Refused, ProviderError) as error:
            found.append(_not_run(settings, error))
        else:
            found.append(RuleCheck(tuple(lines), tokens))
    found.sort(key=lambda kept: kept.share)
    return found[(len(found) - 1) // 2]


def _strategy(settings: Mapping[str, Any]) -> Strategy:
    return registry().strategies[strategy_named(settings["strategy"])]


def _options(settings: Mapping[str, Any]) -> PlanOptions:
    """Options with which a compaction aims at the budget."""
    compact = msgspec.convert(settings["compact"], PlanOptions)
    return replace(compact, target_pct=1 / WINDOW)


def _questions(settings: Mapping[str, Any]) -> list[GateQuestion]:
    return msgspec.convert(settings["questions"], list[GateQuestion])


def _next_window(
    view: WindowView, strategy: Strategy, material: Material, options: PlanOptions, budget: int
) -> tuple[Sequence[Item], int]:
    """The items after the compaction, and their tokens. A window that fits the budget is kept as it
    is.

    Raises `Refused`, and whatever a strategy raises.
    """
    if view.tokens <= budget:
        return [shown.item for shown in rendered_now(view)], view.tokens
    plan = strategy.plan(view, material, options)
    engine.validate(view, plan)
    return items_of(view, plan), plan.sizes.after


def _not_run(settings: Mapping[str, Any], error: Exception) -> RuleCheck:
    why = str(error) or type(error).__name__
    questions = (question["question"] for question in settings["questions"])
    return RuleCheck(
        tuple(KeptLine(line, False) for line in (*settings["keeps"], *questions)), 0, why
    )
