"""What would no longer stand anywhere is told."""

from dataclasses import replace

from fakes.compactions import planned, session
from pinfold.compaction.loss import MAX_NAMED, loss_of
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item

BARE = PlanOptions(text="Nothing is said.", user_message_tokens=0, max_tail_messages=1)


def test_what_goes_is_named_with_its_item_and_what_stays_is_not() -> None:
    live = session(4)
    text = (
        "See https://example.org/a and src/deep/only_here.py, 12,345 rows. Never touch legacy code."
    )
    for n, said in ((33, text), (34, "Go on."), (35, "And on.")):
        live.add(ItemAdded(item=Item(n=n, kind="user", content=said)))
    view = live.view()
    loss = loss_of(view, planned(view, options=BARE))
    lost = {(each.kind, each.text): each.item for each in loss.named}
    assert lost["url", "https://example.org/a"] == 33
    assert lost["file", "src/deep/only_here.py"] == 33
    assert lost["number", "12,345"] == 33
    assert lost["decision", "Never touch legacy code."] == 33
    full = loss_of(view, planned(view))
    assert ("file", "src/deep/only_here.py") not in {(e.kind, e.text) for e in full.named}


def test_it_is_bounded_and_says_how_much_more_there_is() -> None:
    live = session(12)
    view = live.view()
    loss = loss_of(view, planned(view, options=BARE))
    identifiers = [each for each in loss.named if each.kind == "identifier"]
    assert len(identifiers) == MAX_NAMED
    assert loss.more["identifier"] > 100


def test_a_path_whose_folder_stands_above_it_in_the_ledger_is_not_lost() -> None:
    view = session(12).view()
    plan = planned(view)
    assert "src/part_1.py" not in plan.inserted[0].content.partition("[LEDGER v1]")[2]
    assert not [each for each in loss_of(view, plan).named if each.kind == "file"]


def test_what_the_inserted_text_says_stands() -> None:
    live = session(4)
    run = '{"command": "make test"}'
    for n, kind, text in (
        (33, "user", "There are 12,345 rows."),
        (34, "tool_call", run),
        (35, "user", "Go on."),
        (36, "user", "And on."),
    ):
        item = Item(n=n, kind=kind, content=text, name="shell")  # type: ignore[arg-type]
        live.add(ItemAdded(item=item))
    view = live.view()
    for text, lost in ((BARE.text, True), ("12,345 rows. ok #34: make test", False)):
        loss = loss_of(view, planned(view, options=replace(BARE, text=text)))
        said = {each.text for each in loss.named}
        assert ("12,345" in said, "make test" in said) == (lost, lost)
