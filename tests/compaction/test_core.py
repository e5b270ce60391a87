"""Goal and commitments stand before all else, however often the window is compacted."""

import asyncio
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.compactions import Live, apply, planned, session, working
from fakes.summarizer import ScriptedSummarizer
from pinfold.compaction.engine import plan_with
from pinfold.compaction.inserted import CORE_HEADER, DIGEST_HEADER, SUGGESTED_HEADER
from pinfold.compaction.loss import loss_of
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.refusals import Impossible
from pinfold.compaction.strategies.handoff import Handoff
from pinfold.compaction.strategies.registry import house
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import CoreChanged, GoalSet, ItemAdded, PinsChanged, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.values import CoreStatement

RULE = "Never touch the legacy folder."
GOAL = "Port the parser to Rust.\n\n  - keep the error texts\n  - no new dependency"


def working_session() -> Live:
    live = session(0)
    for n, text in ((1, GOAL), (2, RULE)):
        live.add(ItemAdded(item=Item(n=n, kind="user", content=text)))
    more(live)
    return live


def more(live: Live, turns: int = 12) -> None:
    for data in working(turns, first=live.next_n):
        live.add(data)


def compacted(live: Live, answer: str = "It goes on.") -> CompactionPlan:
    view = live.view()
    made = asyncio.run(Handoff().prepare(view, ScriptedSummarizer([answer]), PlanOptions()))
    plan = plan_with(
        "handoff", view, made, PlanOptions(user_message_tokens=100), strategies=house()
    )
    apply(live, plan)
    return plan


def test_it_comes_first_and_the_handoff_last() -> None:
    live = working_session()
    plan = compacted(live)
    core, summary = (plan.inserted[0], plan.inserted[-1])
    assert plan.window[0] == (-1, "full")
    assert core.kind == "checkpoint"
    assert RULE in core.content
    assert "keep the error texts" in core.content
    assert summary.kind == "summary"
    assert not [loss for loss in loss_of(live.view(), plan).named if loss.kind == "your words"]


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(max_size=400), min_size=3, max_size=3))
def test_goal_constraints_and_pins_stand_verbatim_after_three_compactions(
    answers: list[str],
) -> None:
    live = working_session()
    live.add(PinsChanged(add=(6,)))
    pinned = live.window.archive[6]
    for answer in answers:
        view = live.view()
        made = Material(text=answer, through=view.entries[-1].item.n)
        plan = plan_with("handoff", view, made, PlanOptions(), strategies=house())
        apply(live, plan)
        window = live.window.items
        text = "\n".join(item.content for item in window if item.kind == "checkpoint")
        assert all(line.strip(" -") in text for line in GOAL.splitlines())
        assert RULE in text
        assert pinned in window
        more(live)
    assert [item.kind for item in live.window.items].count("checkpoint") == 1


def test_the_user_changes_it_by_hand() -> None:
    live = working_session()
    live.add(CoreChanged(add=(CoreStatement("Always answer in French."),)))
    plan = compacted(live)
    assert f"{CORE_HEADER}\n- Always answer in French." in plan.inserted[0].content
    live.add(CoreChanged(add=(CoreStatement(RULE, 2),), remove=("Always answer in French.",)))
    more(live)
    plan = compacted(live)
    assert f"{CORE_HEADER}\n- {RULE} (#2)" in plan.inserted[0].content
    assert "French" not in plan.inserted[0].content


def test_it_outlives_a_rewind_and_holds_each_text_once() -> None:
    live = session(1)
    live.add(
        CoreChanged(
            add=(
                CoreStatement("Keep port 9000."),
                CoreStatement("Be brief."),
                CoreStatement("Be brief."),
            )
        )
    )
    live.add(
        WindowReplaced(generation=1, base=live.view().base, reason="rewind", window=((1, "full"),))
    )
    assert [statement.text for statement in live.known.core.stated()] == [
        "Keep port 9000.",
        "Be brief.",
    ]


def test_nothing_cuts_it_and_where_it_leaves_no_room_it_is_named() -> None:
    live = working_session()
    live.add(CoreChanged(add=(CoreStatement("word " * 900),)))
    plan = planned(live.view(6_000, 500))
    assert "word " * 899 in plan.inserted[0].content
    live.add(CoreChanged(add=(CoreStatement("many " * 9_000),)))
    with pytest.raises(Impossible) as refused:
        planned(live.view(6_000, 500))
    assert "the protected core" in dict(refused.value.breakdown)


def test_until_it_is_confirmed_the_first_request_stands_apart() -> None:
    live = working_session()
    text = planned(live.view()).inserted[0].content
    assert f"{SUGGESTED_HEADER}\n- #1, first request: Port the parser to Rust." in text
    assert CORE_HEADER not in text
    live.add(GoalSet(text="Port it."))
    text = planned(live.view()).inserted[0].content
    assert f"{CORE_HEADER}\n- goal: Port it." in text
    assert "first request" not in text


def test_the_digest_repeats_neither_the_core_nor_items_that_stay_in_full() -> None:
    live = working_session()
    live.add(CoreChanged(add=(CoreStatement(RULE, 2),)))
    plan = planned(live.view())
    text = plan.inserted[0].content
    assert text.count(RULE) == 1
    numbers = {
        int(n) for n in re.findall(r"^#(\d+) ", text.partition(DIGEST_HEADER)[2], re.MULTILINE)
    }
    assert numbers
    assert numbers.isdisjoint(n for n, form in plan.window if form == "full")
