"""What the user does to the window is worked out first, and refused in plain words."""

import pytest

from fakes.histories import fold
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import (
    ArtifactObserved,
    Data,
    ItemAdded,
    ItemsMarked,
    PinsChanged,
    WindowReplaced,
)
from pinfold.rollout.items import Item, Kind
from pinfold.rollout.values import PlanBase
from pinfold.window import selectors
from pinfold.window.actions import Planner
from pinfold.window.refused import Refused

MODEL = ModelInfo("m", "p", 8_192, "config")


def item(n: int, kind: Kind, content: str = "text", response: int = 0, call: str = "") -> Data:
    return ItemAdded(
        item=Item(n=n, kind=kind, content=content, response=response, call_id=call or None)
    )


SESSION: list[Data] = [
    item(1, "user", "please fix the tests"),
    item(2, "reasoning", "", 1),
    item(3, "tool_call", '{"command": "pytest -q"}', 1, "a"),
    item(4, "tool_call", '{"path": "src/app.py"}', 1, "b"),
    item(5, "tool_result", "1 failed\n" * 500, 1, "a"),
    item(6, "tool_result", "code\n" * 100, 1, "b"),
    ArtifactObserved(uri="src/app.py", kind="file", op="read", item=6),
    item(7, "assistant", "One test fails.", 2),
    item(8, "user", "go on"),
]


def planner(*more: Data, model: ModelInfo = MODEL) -> Planner:
    window, gauge = fold([*SESSION, *more])
    return Planner(window, gauge, model)


def test_masking_says_what_it_frees_and_the_gauge_agrees_afterwards() -> None:
    effect = planner().plan("mask", [5])
    _, gauge = fold([*SESSION, effect.event])
    assert effect.freed > 900
    assert effect.after == gauge.reading(MODEL).used
    assert effect.numbers == (5,)


def test_masking_a_call_masks_its_result() -> None:
    assert planner().plan("mask", [3]).event == ItemsMarked(items=((5, "masked"),))


def test_folding_either_half_folds_both() -> None:
    effect = planner().plan("fold", [5])
    assert dict(effect.event.items) == {3: "placeholder", 5: "placeholder"}  # type: ignore[union-attr]


def test_reasoning_that_led_to_nothing_that_stays_is_folded_too() -> None:
    effect = planner().plan("fold", [3, 4])
    assert set(effect.numbers) == {2, 3, 4, 5, 6}


def test_unfolding_brings_back_what_was_folded() -> None:
    folded = planner().plan("fold", [3, 4]).event
    effect = planner(folded).plan("unfold", [3, 4])
    assert set(effect.numbers) == {2, 3, 4, 5, 6}
    assert effect.freed < -900


@pytest.mark.parametrize(
    ("act", "numbers", "why"),
    [
        (
            "mask",
            [1],
            "#1: only results, and calls that write files, can be masked; fold it instead",
        ),
        ("fold", [8], "#8: it is your latest request"),
        ("unfold", [5], "#5: neither masked nor folded"),
        ("fold", [99], "#99: no longer in the window"),
        ("unpin", [5], "#5: not pinned."),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(act, numbers, why) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Refused) as refusal:
        planner().plan(act, numbers)
    assert str(refusal.value) == why


def test_what_is_pinned_is_neither_masked_nor_folded() -> None:
    for pin in (5, 3):
        for act in ("mask", "fold"):
            with pytest.raises(Refused, match="#5: pinned; unpin first"):
                planner(PinsChanged(add=(pin,))).plan(act, [5])  # type: ignore[arg-type]


def test_of_a_range_what_can_be_done_is_done_and_the_rest_is_named() -> None:
    effect = planner(PinsChanged(add=("src/**",))).plan("mask", [1, 5, 6])
    assert effect.numbers == (5,)
    assert effect.left == (
        "#1: only results, and calls that write files, can be masked; fold it instead",
        "#6: pinned by src/**",
    )


def test_a_pin_tells_its_cost_and_what_it_holds() -> None:
    effect = planner().plan("pin", ["src/**"])
    assert effect.numbers == (4, 6)
    assert effect.pinned > 100
    assert effect.warning == ""


def test_a_pin_brings_back_what_it_protects_and_one_undo_takes_both() -> None:
    folded = ItemsMarked(items=((3, "placeholder"), (5, "placeholder"), (6, "masked")))
    effect = planner(folded).plan("pin", [5, "src/**"])
    assert effect.event == PinsChanged(
        add=(5, "src/**"), items=((3, "full"), (5, "full"), (6, "full"))
    )
    assert effect.back == (3, 5, 6)
    window, gauge = fold([*SESSION, folded, effect.event])
    assert gauge.reading(MODEL).used == effect.after > effect.before
    assert set(window.forms.values()) == {"full"}
    newest = window.undo.newest
    assert newest is not None
    assert newest.what == "the pin of #5, src/**"
    window, _ = fold([*SESSION, folded, effect.event, newest.event])
    assert not window.pins
    assert [window.form(n) for n in (3, 5, 6)] == ["placeholder", "placeholder", "masked"]


def test_a_glob_brings_back_the_newest_read_alone_and_counts_what_stands() -> None:
    later = [
        item(9, "tool_call", "{}", 3, "c"),
        item(10, "tool_result", "code\n" * 100, 3, "c"),
        ArtifactObserved(uri="src/app.py", kind="file", op="read", item=10),
        ItemsMarked(items=((6, "masked"), (10, "masked"))),
    ]
    effect = planner(*later).plan("pin", ["src/**"])
    assert effect.back == (10,)
    window, gauge = fold([*SESSION, *later, effect.event])
    shown = zip(window.shown, gauge.tokens, strict=True)
    assert effect.pinned == sum(count for entry, count in shown if window.is_pinned(entry.item.n))


def test_what_another_tool_masked_before_the_adoption_is_not_undone_here() -> None:
    window, _ = fold([*SESSION, ItemsMarked(items=((5, "masked"),), adopted=True)])
    assert window.form(5) == "masked"
    assert window.undo.newest is None


def test_pins_over_half_the_window_are_warned_of() -> None:
    model = ModelInfo("m", "p", 3_800, "config", max_output=200)
    effect = planner(model=model).plan("pin", [5])
    assert effect.warning.startswith("Pins alone now take ")


def test_pins_with_which_no_request_could_work_are_refused() -> None:
    model = ModelInfo("m", "p", 2_000, "config", max_output=200)
    with pytest.raises(Refused, match=r"The window could no longer work: pins 2,\d\d\d"):
        planner(model=model).plan("pin", [5, 6])


def test_an_item_held_by_a_glob_is_unpinned_with_the_glob() -> None:
    with pytest.raises(Refused, match=r"#6 is held by the pin on src/\*\*: unpin that"):
        planner(PinsChanged(add=("src/**",))).plan("unpin", [6])


def test_an_open_call_stays() -> None:
    call = item(9, "tool_call", "{}", 3, "c")
    with pytest.raises(Refused, match="it has no result yet"):
        planner(call).plan("fold", [9])


def test_each_change_is_undone_by_an_event_back_to_where_it_began() -> None:
    changes: list[Data] = [
        PinsChanged(add=(1, "src/**")),
        PinsChanged(remove=(1,)),
        ItemsMarked(items=((5, "masked"),)),
        ItemsMarked(items=((5, "placeholder"), (3, "placeholder"))),
    ]
    data = [*SESSION, *changes]
    states = [fold(data[: len(SESSION) + k])[0] for k in range(len(changes) + 1)]
    said = []
    for before in reversed(states[:-1]):
        newest = fold(data)[0].undo.newest
        assert newest is not None
        said.append(newest.what)
        data.append(newest.event)
        now = fold(data)[0]
        assert (now.forms, list(now.pins)) == (before.forms, list(before.pins))
    assert fold(data)[0].undo.newest is None
    assert said == [
        "the folding of #3, #5",
        "the mask of #5",
        "the unpinning of #1",
        "the pin of #1, src/**",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("5", (5,)),
        ("#5", (5,)),
        ("2..4", (2, 3, 4)),
        ("#3..#5, 1", (3, 4, 5, 1)),
        ("last", (8,)),
        ("src/** 1", ("src/**", 1)),
        ("./src/*.py", ("src/*.py",)),
    ],
)
def test_items_are_named_as_people_do(text: str, found: tuple[object, ...]) -> None:
    assert selectors.parse(text, fold(SESSION)[0]) == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Name items: 12, 12..18, last"),
        ("99", "There is no #99 in this session."),
        ("40..50", "There is no #40..50 in this session."),
    ],
)
def test_what_names_nothing_is_refused(text: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        selectors.parse(text, fold(SESSION)[0])


def test_a_glob_names_the_items_that_concern_its_files() -> None:
    window = fold(SESSION)[0]
    assert selectors.numbers("src/**", window) == (4, 6)
    with pytest.raises(Refused, match="No item in the window concerns"):
        selectors.numbers("docs/**", window)


def test_a_mark_on_what_a_rewind_took_out_of_the_window_is_not_undone() -> None:
    marked = ItemsMarked(items=((5, "masked"),))
    rewound = WindowReplaced(
        generation=1, base=PlanBase(0, 8), reason="rewind", window=((1, "full"), (8, "full"))
    )
    assert fold([*SESSION, marked])[0].undo.newest is not None
    assert fold([*SESSION, marked, rewound])[0].undo.newest is None
