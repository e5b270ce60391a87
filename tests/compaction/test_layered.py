"""`layered`: what is enough, and with a summary where one was prepared."""

from fakes.compactions import apply, session, working
from pinfold.compaction.engine import plan_with, validate
from pinfold.compaction.inserted import DIGEST_HEADER, keys_told_by
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.strategies.layered import NOTHING_LEFT, WAITS
from pinfold.compaction.strategies.registry import house
from pinfold.compaction.strategy import Material
from pinfold.compaction.summary import ItemQuote, SummaryEntry, entries_of
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.rollout.events import ItemsMarked

SAID = SummaryEntry("d1", "decisions", {"text": "The limit is 4,317."}, (ItemQuote(1, "part"),))
DOUBTED = SummaryEntry("d2", "decisions", {"text": "Delete it all."}, (), "it stands nowhere")
READY = Material(entries=(SAID, DOUBTED), through=40, notes=("read 40 items",))
NARROW = PlanOptions(target_pct=0.2)


def planned(view: WindowView, material: Material, options: PlanOptions = NARROW) -> CompactionPlan:
    plan = plan_with("layered", view, material, options, strategies=house())
    validate(view, plan)
    return plan


def test_masking_is_enough_where_it_reaches_the_target() -> None:
    plan = planned(session(24).view(), READY, PlanOptions(target_pct=0.6))
    assert {item.verdict for item in plan.items} == {"keep", "mask"}
    assert WAITS in plan.told
    assert "src/" in plan.inserted[0].content, "what was done in masked items is still told"


def test_a_prepared_summary_stands_beside_the_checkpoint() -> None:
    plan = planned(session(24).view(), READY)
    text = plan.inserted[0].content
    assert plan.strategy == "layered"
    assert DIGEST_HEADER in text
    assert "The limit is 4,317." in text
    assert "Delete it all." not in text
    assert "read 40 items" in plan.notes
    assert plan.meta["summary"]["decisions"] == ["The limit is 4,317."]  # type: ignore[index]


def test_without_one_it_is_the_checkpoint() -> None:
    view = session(24).view()
    assert planned(view, Material()).strategy == "checkpoint"
    unused = planned(view, Material(entries=(DOUBTED,)))
    assert unused.strategy == "checkpoint"
    assert NOTHING_LEFT in unused.notes


def test_what_a_summary_says_is_known_to_the_next_one() -> None:
    live = session(24)
    apply(live, planned(live.view(), READY))
    for data in working(2, first=live.next_n):
        live.add(data)
    kept = [entries_of(item) for item in live.window.items if item.kind == "summary"]
    assert kept == [(SAID,)]


def test_a_text_of_the_users_own_is_not_taken_for_the_models() -> None:
    plan = planned(session(24).view(), READY, PlanOptions(target_pct=0.2, text="My own words."))
    assert plan.inserted[0].content == "My own words."
    assert entries_of(plan.inserted[0]) == ()


def test_what_leaves_the_window_unread_is_told() -> None:
    plan = planned(session(24).view(), READY)
    stays = {n for n, _ in plan.window}
    gone = sum(item.n > 40 and item.n not in stays for item in plan.items)
    told = f"Left out, as it came after #40, since the summary: {gone} items."
    assert gone
    assert told in plan.notes


def test_what_rests_on_nothing_but_what_the_user_folded_is_left_out() -> None:
    live = session(24)
    also = SummaryEntry(
        "d3", "decisions", {"text": "It is 2.5."}, (ItemQuote(1, "p"), ItemQuote(15, "2.5"))
    )
    material = Material(entries=(SAID, also), through=40)
    live.add(ItemsMarked(items=((1, "placeholder"),)))
    plan = planned(live.view(), material)
    assert "4,317" not in plan.inserted[0].content
    assert "It is 2.5. (#1, #15)" in plan.inserted[0].content
    assert "Left out, as you folded its source: 1 entry." in plan.notes
    kept = planned(live.view(), material, PlanOptions(target_pct=0.2, claims=frozenset({"d1"})))
    assert "4,317" in kept.inserted[0].content


def test_what_the_summary_names_is_not_told_again_by_the_digest() -> None:
    view = session(24).view()
    told = SummaryEntry(
        "d1", "decisions", {"text": "Part 3 takes 3.5 seconds less."}, (ItemQuote(1, "p"),)
    )
    digest = planned(view, Material(entries=(told,), through=40)).inserted[0].content
    without = planned(view, Material()).inserted[0].content
    line = "agent: Part 3 takes 3.5 seconds less."
    assert line in without
    assert line not in digest
    assert "agent: Part 4 takes 4.5 seconds less." in digest
    known = keys_told_by("Part 3 takes 3.5 seconds less. Port 8003 stays.", view)
    lines = view.known.record.lines()
    assert "Keep port 8003." in {line.text for line in lines}
    assert {line.text for line in lines if line.key in known} == {"Part 3 takes 3.5 seconds less."}
