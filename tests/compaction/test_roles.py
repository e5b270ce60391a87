"""Retention roles: which items each keeps, and what a snapshot gives up first."""

import pytest

from fakes.compactions import Live, session
from pinfold.compaction.engine import validate
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.roles import kept
from pinfold.compaction.strategies.snapshot import Snapshot
from pinfold.compaction.strategy import Material
from pinfold.compaction.summary import ItemQuote, SummaryEntry
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.rollout.events import CoreChanged, ItemAdded, MemoryApplied
from pinfold.rollout.items import Item
from pinfold.rollout.memory import DecisionMemory, Evidence
from pinfold.rollout.values import CoreStatement

TOLD = Material(
    entries=tuple(
        SummaryEntry(
            f"{n:x}", "todo", {"text": f"Step {n} of the work is left. " * 4}, (ItemQuote(n, "x"),)
        )
        for n in range(1, 30)
    )
)


def planned(view: WindowView, **options: object) -> CompactionPlan:
    given = {"keep_files_glob": (), "max_tail_messages": 3, **options}
    plan = Snapshot().plan(view, TOLD, PlanOptions(**given))  # type: ignore[arg-type]
    validate(view, plan)
    return plan


def staying(plan: CompactionPlan, reason: str) -> dict[int, str]:
    return {item.n: item.verdict for item in plan.items if item.reason == reason and item.after}


def decided(live: Live, source: str, ref: str) -> None:
    memory = DecisionMemory(
        id="d1",
        decision="Part 1 stays as it is",
        rationale="it is fast",
        evidence=Evidence(source, ref),  # type: ignore[arg-type]
    )
    live.add(MemoryApplied(memory=memory))


def test_each_role_keeps_its_own() -> None:
    live = session(2)
    view = live.view()
    assert [(rule.role, [e.n for e in rule.entries]) for rule in kept(view, ("tool",))] == [
        ("tool", [3, 4]),
        ("tool", [5, 6]),
        ("tool", [11, 12]),
        ("tool", [13, 14]),
    ]
    assert [[e.n for e in rule.entries] for rule in kept(view, ("diff",))] == [[5, 6], [13, 14]]
    assert [rule.role for rule in kept(view, ("tool", "diff"))] == ["tool", "diff"] * 2
    assert kept(view, ("decision",)) == []
    assert kept(view, ()) == []
    live.add(CoreChanged(add=(CoreStatement("Keep port 8002.", 9),)))
    assert [rule.entries[0].n for rule in kept(live.view(), ("decision",))] == [9]


@pytest.mark.parametrize(
    ("source", "ref", "items"),
    [
        ("user", "#15", [15]),
        ("tool_output", "a1", [3, 4]),
        ("file", "src/part_2.py", [13, 14]),
    ],
)
def test_what_an_accepted_decision_rests_on_is_kept_whole(
    source: str, ref: str, items: list[int]
) -> None:
    live = session(2)
    n = live.next_n
    live.add(ItemAdded(item=Item(n=n, kind="user", content="And now?")))
    decided(live, source, f"#{n}" if source == "user" else ref)
    found = [[e.n for e in rule.entries] for rule in kept(live.view(), ("decision",))]
    assert (items if source != "user" else [n]) in found


def test_a_call_that_awaits_its_result_is_left_to_the_tail() -> None:
    live = session(1)
    call = Item(n=9, kind="tool_call", content="{}", name="shell", call_id="x", response=9)
    live.add(ItemAdded(item=call))
    assert all(9 not in [e.n for e in rule.entries] for rule in kept(live.view(), ("tool",)))


def test_calls_stay_with_masked_results_and_bodies_while_they_fit() -> None:
    view = session(20).view(24_000)
    calls = staying(planned(view, keep_roles=("tool",)), "kept role: tool call")
    bodies = [n for n, verdict in calls.items() if n % 8 == 4 and verdict == "keep"]
    masked = [n for n, verdict in calls.items() if n % 8 == 4 and verdict == "mask"]
    assert bodies
    assert masked
    assert max(masked) < min(bodies)


def test_edits_stay_whole() -> None:
    view = session(20).view(24_000)
    edits = staying(planned(view, keep_roles=("tool", "diff", "decision")), "kept role: edit")
    assert len(edits) == 40
    assert set(edits.values()) == {"keep"}


def test_bodies_go_before_the_summary_it_before_the_tail_and_the_tail_before_kept_roles() -> None:
    seen: list[tuple[bool, int, bool, int]] = []
    for size in (24_000, 9_000, 5_000, 3_400, 2_600, 2_200):
        view = session(20).view(size)
        plan = planned(view, target_pct=0.9, max_tail_messages=8)
        calls = staying(plan, "kept role: tool call") | staying(plan, "its output did not fit")
        body = any(n % 8 == 4 and calls[n] == "keep" for n in calls)
        entries = plan.inserted[0].detail["entries"]
        roles = len(staying(plan, "kept role: edit")) + len(calls)
        seen.append((body, len(entries), bool(staying(plan, "in the tail")), roles))
    assert seen == sorted(seen, reverse=True)
