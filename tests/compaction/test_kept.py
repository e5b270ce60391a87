"""Items that a compaction took away come back, each to its old place; and what was lost."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from fakes.compactions import Live, apply, planned, session
from fakes.pasts import replaced
from pinfold.compaction.loss import Loss, forms_around, loss_between, loss_of
from pinfold.compaction.refusals import Impossible, NoGain
from pinfold.compaction.restore import keep_of, undo_of
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item
from pinfold.window.boundary_text import boundary_line
from pinfold.window.refused import Refused

BARE = PlanOptions(
    text="Nothing is said.", user_message_tokens=0, max_tail_messages=1, tail_bound=True
)


def lost(live: Live, generation: int) -> Loss:
    before, after = forms_around(live.window, generation)
    return loss_between(before, after, live.window.archive, live.known.record.lines())


def shrunk(gone: range, *inserted: Item) -> Live:
    """Four turns, #1 to #32, of which `gone` went."""
    live = session(4)
    live.add(replaced(live.window, "manual", "prune", gone, *inserted))
    return live


def test_an_item_comes_back_to_its_place_with_its_other_half() -> None:
    live = shrunk(range(1, 25), Item(n=33, kind="checkpoint", content="Parts 1 to 3."))
    back = keep_of(live.window, 1, 12)
    assert back.reason == "kept"
    live.add(back)
    assert list(live.window.forms) == [33, 11, 12, *range(25, 33)]
    live.add(keep_of(live.window, 1, 16))
    assert list(live.window.forms) == [33, 11, 12, 16, *range(25, 33)]
    live.add(keep_of(live.window, 1, 8))
    assert list(live.window.forms) == [33, 8, 11, 12, 16, *range(25, 33)]
    assert boundary_line(live.window.boundaries[-1]) == "window 4 · items restored"


def test_a_thought_comes_with_what_it_led_to() -> None:
    live = shrunk(range(1, 25))
    live.add(keep_of(live.window, 1, 10))
    assert list(live.window.forms)[:3] == [10, 11, 12]


def test_what_a_mask_or_a_fold_took_comes_back_in_full() -> None:
    live = session(4)
    event = replaced(live.window, "manual", "prune", range(0))
    forms = tuple((n, "masked" if n == 4 else form) for n, form in event.window)
    live.add(structs.replace(event, window=forms))
    live.add(keep_of(live.window, 1, 4))
    assert live.window.form(4) == "full"


def test_a_message_that_was_cut_takes_its_place_back() -> None:
    live = session(4)
    cut = Item(n=33, kind="user", content="Make …", detail={"replaces": 25})
    event = replaced(live.window, "manual", "checkpoint", range(25, 26), cut)
    live.add(event)
    live.add(keep_of(live.window, 1, 25))
    assert list(live.window.forms) == [25, *range(1, 25), *range(26, 33)]


def test_keeping_is_undone_like_any_change() -> None:
    live = shrunk(range(1, 25))
    before = live.window.forms
    seq = live.add(keep_of(live.window, 1, 12)).seq
    newest = live.window.undo.newest
    assert newest is not None
    assert newest.what == "the restore of #11..12"
    live.add(undo_of(live.window, seq))
    assert live.window.forms == before
    assert boundary_line(live.window.boundaries[-1]) == "window 3 · restored items undone"


@pytest.mark.parametrize(
    ("generation", "n", "why"),
    [
        (1, 26, "#26 is in the window"),
        (1, 99, "#99 was not in the window before 1"),
        (7, 12, "#12 was not in the window before 7"),
    ],
)
def test_what_is_not_gone_cannot_come_back(generation: int, n: int, why: str) -> None:
    with pytest.raises(Refused, match=why):
        keep_of(shrunk(range(1, 25)).window, generation, n)


def test_what_was_lost_is_what_the_plan_said() -> None:
    live = session(6)
    view = live.view()
    plan = planned(view, options=BARE)
    expected = loss_of(replace(view, memo={}), plan)
    apply(live, plan)
    assert expected
    assert lost(live, 1) == expected


def test_what_is_kept_after_all_is_lost_no_more() -> None:
    live = session(6)
    apply(live, planned(live.view(), options=BARE))
    first = next(loss for loss in lost(live, 1).named if loss.kind == "your words")
    live.add(keep_of(live.window, 1, first.item))
    assert first in lost(live, 1).named  # it was, by that change
    live.add(ItemAdded(item=Item(n=live.next_n, kind="user", content=first.text)))
    assert first.text not in {loss.text for loss in lost(live, 2).named}


def test_a_window_that_took_no_other_s_place_has_lost_nothing() -> None:
    with pytest.raises(Refused, match="No change has made a window 0"):
        forms_around(session(2).window, 0)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 10), st.integers(2_000, 16_000), st.data())
def test_whatever_comes_back_fits_in_and_goes_again(
    turns: int, size: int, data: st.DataObject
) -> None:
    live = session(turns)
    old = list(live.window.forms)
    try:
        plan = planned(live.view(size, size // 4), options=PlanOptions(min_headroom_tokens=0))
    except (Impossible, NoGain):
        return
    apply(live, plan)
    before = live.window.forms
    gone = [n for n in old if before.get(n) != "full"]
    if not gone:
        return
    n = data.draw(st.sampled_from(gone))
    seq = live.add(keep_of(live.window, 1, n)).seq
    now = live.window.forms
    assert now[n] == "full"
    assert [number for number in now if number in before] == [
        number for number in before if number in now
    ]
    came = [number for number in now if number in old]
    assert came == sorted(came)
    for number in now:
        partner = live.window.partner(number)
        assert partner is None or partner in now
    live.add(undo_of(live.window, seq))
    assert live.window.forms == before
