"""No plan is applied that breaks a rule, whoever made it."""

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from fakes.compactions import Live, apply, planned, session
from pinfold.compaction.engine import event_of, plan_with, validate
from pinfold.compaction.plan import CompactionPlan, Planned
from pinfold.compaction.plan_builder import PlanBuilder
from pinfold.compaction.refusals import BadPlan, NoGain
from pinfold.compaction.strategies.registry import house, look
from pinfold.compaction.strategy import Material, ModelFree
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.rollout.events import PinsChanged
from pinfold.rollout.items import Item
from pinfold.rollout.values import PlanBase
from pinfold.window.refused import Refused


def without(plan: CompactionPlan, *numbers: int) -> CompactionPlan:
    """The plan, with these items archived as well."""
    items = [
        Planned(item.n, "archive", "", item.before, 0) if item.n in numbers else item
        for item in plan.items
    ]
    window = [pair for pair in plan.window if pair[0] not in numbers]
    return replace(plan, items=tuple(items), window=tuple(window))


def pinned() -> Live:
    live = session(12)
    live.add(PinsChanged(add=(12,)))
    return live


def inserting(plan: CompactionPlan, item: Item) -> CompactionPlan:
    return replace(plan, inserted=(item,))


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (lambda plan: replace(plan, base=PlanBase(9, 9)), "the window has changed"),
        (lambda plan: without(plan, 11, 12), "#12 is pinned by 12"),
        (lambda plan: without(plan, 96), "your latest request, #96, would go"),
        (lambda plan: without(plan, 92), "#91 would stay without its other half, #92"),
        (lambda plan: without(plan, 91, 92), "the thought #90 would stay"),
        (lambda plan: replace(plan, items=plan.items[1:]), "every item"),
        (lambda plan: replace(plan, window=plan.window[:-1]), "is not what it says"),
        (lambda plan: replace(plan, window=((-1, "full"), *plan.window)), "no place, or several"),
        (lambda plan: inserting(plan, Item(n=0, kind="tool_result")), "of kind tool_result"),
        (lambda plan: inserting(plan, Item(n=0, kind="summary")), "empty"),
        (lambda plan: inserting(plan, Item(n=0, kind="summary", content="x")), "its tokens"),
    ],
)
def test_a_plan_that_breaks_a_rule_is_refused(broken, reason: str) -> None:  # type: ignore[no-untyped-def]
    view = pinned().view()
    plan = planned(view)
    validate(view, plan)
    with pytest.raises(BadPlan, match=reason):
        validate(view, broken(plan))


class Careless(ModelFree):
    name = "careless"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        return without(planned(view), 11, 12)


class Crashing(ModelFree):
    name = "crashing"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        raise ZeroDivisionError


class Misnaming(ModelFree):
    name = "misnaming"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        builder = PlanBuilder(view)
        builder.put(999, "archive", "")
        return builder.build(self.name)


@pytest.mark.parametrize("strategy", [Careless(), Crashing(), Misnaming()])
def test_a_strategy_that_fails_falls_to_checkpoint(
    strategy: Careless | Crashing | Misnaming,
) -> None:
    view = pinned().view()
    known = {**house(), strategy.name: strategy}
    plan = plan_with(strategy.name, view, Material(), PlanOptions(), strategies=known)
    assert plan.strategy == "checkpoint"
    assert plan.notes[-1].startswith(f"{strategy.name} failed: ")


def test_a_verdict_on_what_is_not_there_is_told_plainly() -> None:
    with pytest.raises(BadPlan, match="the window has no #999"):
        Misnaming().plan(session(3).view(), Material(), PlanOptions())


def test_an_unknown_strategy_is_refused_by_name() -> None:
    with pytest.raises(Refused, match="no strategy nothing"):
        planned(session(3).view(), "nothing")


def test_a_threshold_does_not_compact_for_little() -> None:
    view = session(12).view(100_000)
    options = PlanOptions(keep=frozenset(range(1, 97)))
    with pytest.raises(NoGain):
        plan_with("checkpoint", view, Material(), options, strategies=house(), must_gain=True)


def test_the_event_numbers_what_is_inserted_and_says_why() -> None:
    live = pinned()
    plan = planned(live.view())
    event = event_of(plan, 200, 1, "manual")
    assert event.window[0] == (200, "full")
    assert event.inserted[0].n == 200
    assert event.why[12] == "pinned by #12"
    assert 2 not in event.why  # it goes for its age alone
    assert event.base == plan.base
    assert event.tokens is not None
    assert (event.tokens.before, event.tokens.after) == (plan.sizes.before, plan.sizes.after)


def test_what_was_planned_is_what_is_applied() -> None:
    live = pinned()
    plan = planned(live.view())
    apply(live, plan)
    view = live.view()
    assert view.tokens == plan.sizes.after
    assert [entry.form for entry in view.entries] == [form for _, form in plan.window]
    with pytest.raises(BadPlan, match="has changed"):
        validate(view, plan)


def test_installed_strategies_are_found_and_broken_ones_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[pinfold.strategies]\ngood = other_strategies:Good\nbad = other_strategies:Missing\n"
        "usurper = other_strategies:Usurper\n"
    )
    (tmp_path / "other_strategies.py").write_text(
        "from pinfold.compaction.strategies.prune import Prune\n"
        "class Good(Prune):\n    name = 'good'\n"
        "class Usurper(Prune):\n    pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found = look()
    sys.modules.pop("other_strategies", None)
    assert set(found.strategies) == {*house(), "good"}
    assert [sentence.split()[2] for sentence in found.broken] == ["bad", "usurper"]
