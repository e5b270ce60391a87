"""What would no longer stand anywhere is told, line by line."""

from collections.abc import Sequence
from dataclasses import replace

from fakes.compactions import OPTIONS, Live, apply, planned, session, working
from pinfold.compaction.inserted import DIGEST_HEADER
from pinfold.compaction.loss import MAX_NAMED, loss_of
from pinfold.compaction.summary import SummaryEntry, to_detail
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import ItemAdded, PinsChanged
from pinfold.rollout.items import Item

BARE = PlanOptions(
    text="Nothing is said.", user_message_tokens=0, max_tail_messages=1, tail_bound=True
)


def said(n: int, text: str) -> ItemAdded:
    return ItemAdded(item=Item(n=n, kind="user", content=text))


def test_what_goes_is_named_with_its_item_and_what_stays_is_not() -> None:
    live = session(1)
    for data in (said(33, "Never touch legacy code."), said(34, "Go on."), said(35, "And on.")):
        live.add(data)
    view = live.view()
    lost = {(e.kind, e.text): e.item for e in loss_of(view, planned(view, options=BARE)).named}
    assert lost["your words", "Never touch legacy code."] == 33
    full = loss_of(view, planned(view))
    assert ("your words", "Never touch legacy code.") not in {(e.kind, e.text) for e in full.named}


def test_it_is_bounded_and_says_how_much_more_there_is() -> None:
    live = session(1)
    for n in range(97, 97 + 40):
        live.add(said(n, f"Look at the service number {n} in region {n * 7}."))
    view = live.view()
    loss = loss_of(view, planned(view, options=BARE))
    assert len([lost for lost in loss.named if lost.kind == "your words"]) == MAX_NAMED
    assert loss.more["your words"] >= 20


def test_what_a_digest_said_is_a_loss_where_the_next_window_does_not() -> None:
    live = session(12)
    apply(live, planned(live.view()))
    for data in working(2, first=live.next_n):
        live.add(data)
    view = live.view()
    first = "Keep port 8001."
    assert first in "".join(item.content for item in live.window.items)
    loss = loss_of(view, planned(view, options=BARE))
    assert first in {lost.text for lost in loss.named}
    assert not any(lost.text.startswith("[") for lost in loss.named), "headers are no loss"


def test_what_a_model_summed_up_is_a_loss_where_it_leaves() -> None:
    entries = (
        SummaryEntry("d1", "decisions", {"text": "The limit is 4,317."}),
        SummaryEntry("o1", "decisions", {"text": "Port 9999 stays."}),
    )
    live = session(4)
    live.add(ItemAdded(item=Item(n=33, kind="summary", content="...", detail=to_detail(entries))))
    live.add(said(34, "Go on."))
    live.add(said(35, "Go on."))
    view = live.view()
    loss = loss_of(view, planned(view, options=replace(BARE, text="Port 9999 stays.")))
    lost = {(lost_part.kind, lost_part.text, lost_part.item) for lost_part in loss.named}
    assert ("decision", "The limit is 4,317.", 33) in lost
    assert not any("9999" in lost_part.text for lost_part in loss.named)


def test_what_the_inserted_text_says_stands() -> None:
    live = session(4)
    for n, text in ((33, "There are 12,345 rows."), (34, "Go on."), (35, "And on.")):
        live.add(said(n, text))
    view = live.view()
    for text, lost in ((BARE.text, True), ("#33 USER: There are 12,345 rows.", False)):
        loss = loss_of(view, planned(view, options=replace(BARE, text=text)))
        assert any("12,345" in lost_part.text for lost_part in loss.named) == lost


def _reads(count: int, lines: int, pinned: Sequence[int] = ()) -> Live:
    """A session whose user asks for one file after another, in few words."""
    live = session(0)
    n = 1
    for at in range(count):
        body = "\n".join(
            f"def part_{at}_{row}(value): return value * {row}" for row in range(lines)
        )
        path = f'{{"path": "src/mod_{at}.py"}}'
        shown = {"act": "read", "whole": True}
        for item in (
            Item(n=n, kind="user", content=f"Read mod {at}."),
            Item(n=n + 1, kind="tool_call", content=path, response=at + 1, call_id="a"),
            Item(
                n=n + 2,
                kind="tool_result",
                content=body,
                response=at + 1,
                call_id="a",
                detail=shown,
            ),
            Item(n=n + 3, kind="assistant", content=f"It has part {at}.", response=100 + at),
        ):
            live.add(ItemAdded(item=item))
        n += 4
    live.add(said(n, "And now?"))
    live.add(PinsChanged(add=tuple(pinned)))
    return live


def test_where_only_outputs_leave_nothing_is_said_of_a_digest() -> None:
    view = _reads(5, 150).view()
    plan = planned(view)
    assert DIGEST_HEADER not in "".join(item.content for item in plan.inserted)
    assert plan.told == ("No message, edit or command left the window.",)
    loss = loss_of(view, plan)
    assert not loss
    assert loss.items == sum(item.verdict == "shorten" for item in plan.items) > 0


def test_what_the_plan_says_of_the_digest_is_so() -> None:
    """Whatever leaves once the digest is written is told as left out, not as in it."""
    for turns, options in ((4, OPTIONS), (12, OPTIONS), (12, BARE), (40, OPTIONS)):
        view = session(turns).view()
        plan = planned(view, options=options)
        complete = not any(sentence.startswith(("Left", "All that")) for sentence in plan.told)
        if options.text is None:
            lost = loss_of(view, plan)
            assert complete == (not lost.named), (turns, lost)
        else:
            assert not plan.told


def test_pins_that_hold_most_are_named_and_leave_room_for_the_users_words() -> None:
    view = _reads(6, 190, pinned=(3, 7, 11)).view()
    plan = planned(view)
    assert not [lost for lost in loss_of(view, plan).named if lost.kind == "your words"]
    (note,) = plan.notes
    assert note.startswith("Pins hold 7.")
    assert note.endswith("k tokens that a compacted window may keep; remove some in /context.")
    assert not planned(_reads(6, 150, pinned=(3,)).view()).notes
