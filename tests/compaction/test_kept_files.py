"""What `keep_files_glob` names stays through every rung, or the plan says what did not fit."""

from dataclasses import replace

import pytest

from fakes.compactions import Live, session
from pinfold.compaction.engine import plan_with
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.strategies.registry import house
from pinfold.compaction.strategy import Material
from pinfold.compaction.summary import SummaryEntry
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import ItemsMarked, PinsChanged

KEPT = {59, 60, 61, 62}
"""The newest read and the newest edit of `src/part_1.py`, of twelve turns."""
OPTIONS = PlanOptions(
    keep_files_glob=("src/part_1.py",),
    max_tail_messages=4,
    tail_bound=True,
    target_pct=0.25,
    user_message_tokens=200,
)


def planned(
    live: Live, name: str, options: PlanOptions = OPTIONS, size: int = 16_000
) -> CompactionPlan:
    material = Material(
        text="Go on with part 12.",
        entries=(SummaryEntry("e1", "task", {"text": "Make the parts faster."}),),
        opaque={"sealed": "x"},
        through=90,
        meta={"provider": "p", "model": "m"},
    )
    return plan_with(name, live.view(size), material, options, strategies=house())


@pytest.mark.parametrize("name", sorted(house()))
def test_it_stays_whichever_strategy_plans(name: str) -> None:
    plan = planned(session(12), name)
    assert {(n, "full") for n in KEPT} <= set(plan.window)
    assert {item.reason for item in plan.items if item.n in KEPT} == {"kept by src/part_1.py"}
    assert not any("keep_files_glob" in note for note in plan.notes)
    without = dict(planned(session(12), name, replace(OPTIONS, keep_files_glob=())).window)
    assert without.get(60) != "full"


@pytest.mark.parametrize("name", sorted(house()))
def test_what_did_not_fit_is_said(name: str) -> None:
    plan = planned(session(12, output=400), name, size=64_000)
    assert dict(plan.window).get(60) != "full"
    assert "keep_files_glob: no room for src/part_1.py." in plan.notes


def test_a_long_list_is_cut() -> None:
    options = replace(OPTIONS, keep_files_glob=("src/**", "src/*.py"), max_tail_messages=1)
    plan = planned(session(12, output=100), "handoff", options)
    assert (
        "keep_files_glob: no room for src/part_4.py, src/part_3.py, src/part_2.py, src/part_1.py, "
        "src/part_0.py and 1 more."
    ) in plan.notes


def test_what_the_user_folded_is_not_missed() -> None:
    live = session(12)
    live.add(ItemsMarked(items=tuple((n, "placeholder") for n in KEPT)))
    plan = planned(live, "checkpoint")
    assert not any("keep_files_glob" in note for note in plan.notes)


def test_a_pin_says_why_before_a_kept_file_does() -> None:
    live = session(12)
    live.add(PinsChanged(add=(60,)))
    reasons = {item.n: item.reason for item in planned(live, "prune").items}
    assert reasons[60] == "pinned by #60"
