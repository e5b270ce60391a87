"""Goal and commitments stand before all else, however often the window is compacted."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.compactions import Live, apply, session, working
from fakes.summarizer import ScriptedSummarizer
from pinfold.compaction.engine import plan_with
from pinfold.compaction.loss import loss_of
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.strategies.core import Core
from pinfold.compaction.strategies.registry import house
from pinfold.compaction.strategies.strategy import Material
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import CoreChanged, ItemAdded, PinsChanged, Stated, WindowReplaced
from pinfold.rollout.items import Item

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
    made = asyncio.run(Core().prepare(view, ScriptedSummarizer([answer]), PlanOptions()))
    plan = plan_with("core", view, made, PlanOptions(user_message_tokens=100), strategies=house())
    apply(live, plan)
    return plan


def test_it_comes_first_and_the_handoff_last() -> None:
    live = working_session()
    plan = compacted(live)
    core, summary = (plan.inserted[0], plan.inserted[-1])
    assert plan.window[0] == (-1, "full")
    assert core.kind == "checkpoint"
    assert f" #2: {RULE}" in core.content
    assert "\n    - keep the error texts\n" in core.content
    assert summary.kind == "summary"
    assert not [each for each in loss_of(live.view(), plan).named if each.kind == "decision"]


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
        plan = plan_with("core", view, made, PlanOptions(), strategies=house())
        apply(live, plan)
        window = live.window.items
        text = "\n".join(item.content for item in window if item.kind == "checkpoint")
        assert all(line.strip() in text for line in GOAL.splitlines())
        assert RULE in text
        assert pinned in window
        more(live)
    assert [item.kind for item in live.window.items].count("checkpoint") == 1


def test_the_user_changes_it_by_hand() -> None:
    live = working_session()
    said = [each.text for each in live.ledger.commitments()]
    assert RULE in said
    live.add(CoreChanged(add=(Stated("Always answer in French."),), remove=(RULE,)))
    plan = compacted(live)
    assert RULE not in plan.inserted[0].content
    assert ": Always answer in French." in plan.inserted[0].content
    live.add(CoreChanged(add=(Stated(RULE, 2),), remove=("Always answer in French.",)))
    more(live)
    plan = compacted(live)
    assert f"#2: {RULE}" in plan.inserted[0].content
    assert "French" not in plan.inserted[0].content


def test_what_was_dropped_stands_again_when_it_is_said_again() -> None:
    live = working_session()
    live.add(CoreChanged(remove=(RULE,)))
    n = live.next_n
    live.add(ItemAdded(item=Item(n=n, kind="user", content=RULE)))
    assert (RULE, n) in [(each.text, each.item) for each in live.ledger.commitments()]


def test_what_was_written_by_hand_outlives_a_rewind_and_gives_way_to_what_is_said() -> None:
    live = session(1)
    live.add(CoreChanged(add=(Stated("Keep port 9000."), Stated("Be brief."), Stated("Be brief."))))
    live.add(
        WindowReplaced(generation=1, base=live.view().base, reason="rewind", window=((1, "full"),))
    )
    texts = [each.text for each in live.ledger.commitments()]
    assert texts.count("Be brief.") == 1
    assert "Keep port 9000." in texts
    live.add(ItemAdded(item=Item(n=live.next_n, kind="user", content="Keep port 9100.")))
    assert "Keep port 9000." not in [each.text for each in live.ledger.commitments()]
