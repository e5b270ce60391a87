"""What would no longer stand anywhere is told."""

from dataclasses import replace

from msgspec.structs import replace as replaced

from fakes.compactions import apply, planned, session, working
from pinfold.compaction.loss import MAX_NAMED, loss_of
from pinfold.compaction.summary import Entry, to_detail
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item

BARE = PlanOptions(text="Nothing is said.", user_message_tokens=0, max_tail_messages=1)
WORDS = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
    *("lambda", "mu", "nu", "xi", "omicron", "pi", "rho", "sigma", "tau", "upsilon"),
)


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
    live = session(1)
    for n in range(97, 97 + 40):
        live.add(
            ItemAdded(
                item=Item(n=n, kind="user", content=f"See my_{WORDS[n % 20]}_{WORDS[n // 20]}.")
            )
        )
    view = live.view()
    loss = loss_of(view, planned(view, options=BARE))
    identifiers = [each for each in loss.named if each.kind == "identifier"]
    assert len(identifiers) == MAX_NAMED
    assert loss.more["identifier"] >= 20


def test_a_run_of_like_names_is_one_line_with_their_count() -> None:
    live = session(1)
    tables = " ".join(f"orders_{at}" for at in range(200))
    listing = " ".join(f"{one}_of_{two}" for one in WORDS for two in WORDS[:2])
    for n, content in ((97, tables), (99, listing)):
        call = Item(n=n, kind="tool_call", name="shell", content="{}", call_id=f"c{n}", response=n)
        live.add(ItemAdded(item=call))
        live.add(ItemAdded(item=replaced(call, n=n + 1, kind="tool_result", content=content)))
    live.add(ItemAdded(item=Item(n=101, kind="assistant", content="Listed.")))
    live.add(ItemAdded(item=Item(n=102, kind="user", content="Go on.")))
    view = live.view()
    loss = loss_of(view, planned(view, options=BARE))
    lines = {each.text: each.count for each in loss.named if each.kind == "identifier"}
    assert lines["200 names: orders_0 … orders_199"] == 200
    assert lines["40 names: alpha_of_alpha … zeta_of_beta"] == 40


def test_what_the_host_wrote_is_no_loss() -> None:
    live = session(12)
    apply(live, planned(live.view()))
    for data in working(2, first=live.next_n):
        live.add(data)
    view = live.view()
    loss = loss_of(view, planned(view, options=BARE))
    own = [each.text for each in loss.named if each.text.startswith("#") or each.text.isupper()]
    assert "[SESSION_CHECKPOINT v1]" in "".join(item.content for item in live.window.items)
    assert not own
    assert any(each.kind == "number" for each in loss.named)


def test_what_a_model_summed_up_is_a_loss_where_it_leaves() -> None:
    said = (
        Entry("d1", "decisions", {"text": "The limit is 4,317."}),
        Entry("t1", "todo", {"text": "Write the notes."}),
        Entry("f1", "known_failures", {"text": "test_a fails."}),
        Entry("o1", "decisions", {"text": "Port 9999 stays."}),
    )
    live = session(4)
    summary = Item(n=33, kind="summary", content="...", detail=to_detail(said))
    for item in (summary, *(Item(n=n, kind="user", content="Go on.") for n in (34, 35))):
        live.add(ItemAdded(item=item))
    view = live.view()
    loss = loss_of(view, planned(view, options=replace(BARE, text="Port 9999 stays.")))
    lost = {(each.kind, each.text, each.item) for each in loss.named}
    assert ("decision", "The limit is 4,317.", 33) in lost
    assert ("task", "Write the notes.", 33) in lost
    assert ("failure", "test_a fails.", 33) in lost
    assert not any("9999" in each.text for each in loss.named if each.kind == "decision")


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
        (35, "tool_result", "ok"),
        (36, "user", "Go on."),
        (37, "user", "And on."),
        (38, "user", "And on."),
    ):
        item = Item(n=n, kind=kind, content=text, name="shell", call_id="c")  # type: ignore[arg-type]
        live.add(ItemAdded(item=item))
    view = live.view()
    for text, lost in ((BARE.text, True), ("12,345 rows. ok #34: make test", False)):
        loss = loss_of(view, planned(view, options=replace(BARE, text=text)))
        said = {each.text for each in loss.named}
        assert ("12,345" in said, "make test" in said) == (lost, lost)
