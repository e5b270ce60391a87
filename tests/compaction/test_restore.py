"""Back to an earlier window: what it was, with what came since."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.compactions import Live, apply, planned, session, working
from pinfold.compaction.refusals import Impossible, NoGain
from pinfold.compaction.restore import restore_of, undo_of
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import ItemsMarked, PinsChanged, WindowReplaced
from pinfold.rollout.values import PlanBase, Sizes
from pinfold.window.boundary_text import boundary_line
from pinfold.window.generations import generations
from pinfold.window.refused import Refused
from pinfold.window.undo import UndoStack


def compact(live: Live) -> int:
    return apply(live, planned(live.view()))


def go_on(live: Live) -> set[int]:
    """Another turn; the numbers of its items."""
    before = set(live.window.archive)
    for data in working(1, first=live.next_n):
        live.add(data)
    return set(live.window.archive) - before


def test_undo_brings_back_the_window_with_what_came_since() -> None:
    live = session(12)
    before = live.window.forms
    seq = compact(live)
    added = go_on(live)
    live.add(PinsChanged(add=(1,)))
    live.add(ItemsMarked(items=((92, "masked"),)))
    live.add(undo_of(live.window, seq))
    assert live.window.forms == {**before, 92: "masked", **dict.fromkeys(sorted(added), "full")}
    assert list(live.window.pins) == [1]
    assert live.window.generation == 2
    newest = live.window.undo.newest
    assert newest is not None
    assert newest.what == "the mask of #92"


def test_a_boundary_tells_of_the_whole_request() -> None:
    live = session(12)
    plan = planned(live.view())
    apply(live, plan)
    sizes, told_sizes = plan.sizes, live.window.boundaries[-1].tokens
    assert sizes.context > 0
    assert told_sizes == Sizes(sizes.context + sizes.before, sizes.context + sizes.after)
    assert generations(live.window)[-1].tokens == told_sizes


def test_what_a_pin_brought_back_stays_when_an_earlier_compaction_is_undone() -> None:
    live = session(12)
    live.add(ItemsMarked(items=((92, "masked"),)))
    seq = compact(live)
    live.add(PinsChanged(add=(92,), items=((92, "full"),)))
    live.add(undo_of(live.window, seq))
    assert live.window.form(92) == "full"


def test_compactions_are_undone_one_after_the_other() -> None:
    live = session(12)
    first_window = set(live.window.forms)
    first = compact(live)
    added = go_on(live)
    for _ in range(6):
        added |= go_on(live)
    second = compact(live)
    with pytest.raises(Refused, match="later compactions first"):
        undo_of(live.window, first)
    live.add(undo_of(live.window, second))
    live.add(undo_of(live.window, first))
    assert set(live.window.forms) == first_window | added
    assert live.window.undo.newest is None
    with pytest.raises(Refused):
        undo_of(live.window, first)


def test_an_older_window_is_restored_without_what_compactions_inserted() -> None:
    live = session(12)
    before = live.window.forms
    compact(live)
    added = go_on(live)
    for _ in range(6):
        added |= go_on(live)
    compact(live)
    compacted = live.window.forms
    live.add(restore_of(live.window, 0))
    assert set(live.window.forms) == set(before) | added
    assert {n: live.window.form(n) for n in before} == before
    newest = live.window.undo.newest
    assert newest is not None
    assert newest.what == "the restore"
    live.add(undo_of(live.window, newest.seq))
    assert live.window.forms == compacted
    assert boundary_line(live.window.boundaries[-1]) == "window 4 · restore undone"
    assert boundary_line(live.window.boundaries[-2]) == "window 3 · earlier window restored"
    with pytest.raises(Refused, match="no earlier window 7"):
        restore_of(live.window, 7)


def test_what_a_rewind_took_back_stays_away() -> None:
    live = session(12)
    seq = compact(live)
    rewound = go_on(live)
    kept = [(n, form) for n, form in live.window.forms.items() if n not in rewound]
    live.add(
        WindowReplaced(
            generation=2, base=PlanBase(1, live.window.seq), reason="rewind", window=tuple(kept)
        )
    )
    live.add(undo_of(live.window, seq))
    assert not rewound & set(live.window.forms)
    live.add(restore_of(live.window, 1))
    assert not rewound & set(live.window.forms)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 12), st.sampled_from(["prune", "checkpoint"]), st.integers(2_000, 16_000))
def test_undo_is_exact_and_survives_a_dump(turns: int, name: str, size: int) -> None:
    live = session(turns)
    before, shown = live.window.forms, live.window.items
    try:
        plan = planned(live.view(size, size // 4), name, PlanOptions(min_headroom_tokens=0))
    except (Impossible, NoGain):
        return
    seq = apply(live, plan)
    kept = UndoStack()
    kept.load(live.window.undo.dump())
    assert kept.newest == live.window.undo.newest
    live.add(undo_of(live.window, seq))
    assert live.window.forms == before
    assert live.window.items == shown
