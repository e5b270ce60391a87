"""The window is a pure fold of events, and no request of it breaks a pair."""

from hypothesis import given, settings

from fakes.histories import events, finished, fold, histories
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
from pinfold.rollout.values import PlanBase, Usage
from pinfold.tokens.counter import Counter
from pinfold.window.gauge import Gauge
from pinfold.window.window import Window
from pinfold.wire.atoms import atoms

MODEL = ModelInfo("m", "p", 8_192, "config")


def item(n: int, kind: Kind, content: str = "text", *, response: int = 0, call: str = "") -> Data:
    return ItemAdded(
        item=Item(
            n=n,
            kind=kind,
            content=content,
            response=response,
            call_id=call or None,
            name="shell" if call else None,
        )
    )


SESSION: list[Data] = [
    item(1, "user", "please fix the tests"),
    item(2, "assistant", "Looking.", response=1),
    item(3, "tool_call", '{"command": "pytest -q"}', response=1, call="a"),
    item(4, "tool_call", '{"command": "ls"}', response=1, call="b"),
    item(5, "tool_result", "1 failed\n" * 50, response=1, call="a"),
    item(6, "tool_result", "src", response=1, call="b"),
    item(7, "assistant", "One test fails.", response=2),
    item(8, "user", "go on"),
]


@settings(deadline=None, max_examples=80)
@given(histories())
def test_live_state_is_rebuilt_state(data: list[Data]) -> None:
    live = Window()
    gauge = Gauge(live, Counter("none"), "chat")
    for event in events(data):
        live.step(event)
        gauge.step(event)
        _ = live.shown, gauge.reading(MODEL)  # what is read in between must change nothing
    rebuilt, rebuilt_gauge = fold(data)
    assert live.shown == rebuilt.shown
    assert live.forms == rebuilt.forms
    assert [live.pin_on(n) for n in live.forms] == [rebuilt.pin_on(n) for n in rebuilt.forms]
    assert [live.is_pinned(n) for n in live.forms] == [
        live.pin_on(n) is not None for n in live.forms
    ]
    assert gauge.reading(MODEL) == rebuilt_gauge.reading(MODEL)


@settings(deadline=None, max_examples=80)
@given(histories())
def test_segments_add_up_to_the_windows_count(data: list[Data]) -> None:
    window, gauge = fold(data)
    reading = gauge.reading(MODEL)
    assert sum(tokens for _, tokens in reading.segments) == reading.used
    assert gauge.estimate == sum(gauge.tokens) + sum(gauge.context_parts.values())
    gauge.recount(Counter("none"), "chat")
    assert gauge.reading(MODEL) == reading
    assert len(gauge.tokens) == len(window.shown)


@settings(deadline=None, max_examples=80)
@given(histories())
def test_no_result_is_without_its_call(data: list[Data]) -> None:
    window, _ = fold(data)
    if not window.open_calls:
        atoms(window.items)  # raises on a broken pair
    for shown in window.shown:
        if shown.item.kind == "tool_result":
            call = window.partner(shown.item.n)
            assert any(entry.item.n == call for entry in window.shown)


def test_a_masked_result_keeps_its_call_and_names_the_way_back() -> None:
    window, _ = fold([*SESSION, ItemsMarked(items=((5, "masked"),))])
    by_number = {shown_item.n: shown_item for shown_item in window.items}
    assert by_number[5].content == '[#5 shell pytest -q: 51 lines; recall {"id": 5}]'
    assert by_number[3].content == '{"command": "pytest -q"}'
    assert window.item(5).content.startswith("1 failed")  # type: ignore[union-attr]


def test_folding_a_call_folds_its_result_and_leaves_one_line() -> None:
    window, _ = fold([*SESSION, ItemsMarked(items=((3, "placeholder"), (5, "placeholder")))])
    assert [shown_item.n for shown_item in window.items] == [1, 2, 4, 6, 3, 7, 8]
    line = window.items[4]
    assert line.kind == "context"
    assert line.content == (
        '[#3, #5 folded: shell “{"command": "pytest -q"}”. recall(3) brings it back.]'
    )


def test_a_run_of_folded_items_leaves_one_line_in_all() -> None:
    marks = tuple((n, "placeholder") for n in range(1, 8))
    window, _ = fold([*SESSION, ItemsMarked(items=marks)])  # type: ignore[arg-type]
    assert [shown_item.content for shown_item in window.items] == [
        '[#1..7 folded: user message, 2 replies, 2 calls. recall("1..7") brings it back.]',
        "go on",
    ]


def test_only_what_is_hidden_is_hidden() -> None:
    window, _ = fold([*SESSION, ItemsMarked(items=((5, "masked"), (2, "placeholder")))])
    assert window.hidden() == [2, 5]


def test_a_replaced_window_keeps_the_rest_in_the_archive() -> None:
    summary = Item(n=9, kind="summary", content="so far")
    replaced = WindowReplaced(
        generation=1,
        base=PlanBase(0, 8),
        reason="manual",
        strategy="checkpoint",
        window=((9, "full"), (8, "full")),
        inserted=(summary,),
    )
    window, _ = fold([*SESSION, replaced, item(10, "assistant", "Done.", response=3)])
    assert [shown_item.n for shown_item in window.items] == [9, 8, 10]
    assert window.hidden() == [1, 2, 3, 4, 5, 6, 7]
    boundary = window.boundaries[0]
    assert (boundary.generation, boundary.last, boundary.strategy) == (1, 8, "checkpoint")


def test_a_glob_pins_what_concerns_its_files_now_and_later() -> None:
    read = ArtifactObserved(uri="src/app.py", kind="file", op="read", item=5)
    later = [
        item(9, "tool_call", "{}", response=3, call="c"),
        item(10, "tool_result", "code", response=3, call="c"),
        ArtifactObserved(uri="src/app.py", kind="file", op="update", item=10),
    ]
    window, _ = fold([*SESSION, read, PinsChanged(add=("src/**",)), *later])
    assert [n for n in window.forms if window.is_pinned(n)] == [3, 5, 9, 10]
    assert window.pin_on(10) == "src/**"


def test_pins_survive_a_replaced_window_and_keep_their_order() -> None:
    replaced = WindowReplaced(
        generation=1, base=PlanBase(0, 8), reason="manual", window=((1, "full"), (8, "full"))
    )
    pins = [PinsChanged(add=(8,)), PinsChanged(add=("*.md", 1)), PinsChanged(remove=("*.md",))]
    window, _ = fold([*SESSION, *pins, replaced])
    assert list(window.pins) == [8, 1]
    assert [window.is_pinned(n) for n in (1, 8)] == [True, True]


def test_a_report_from_before_a_change_of_the_window_measures_nothing() -> None:
    usage = Usage(input=5_000, output=10)
    marked = ItemsMarked(items=((5, "masked"),))
    _, before = fold([*SESSION, finished(usage, len(SESSION))])
    assert before.reading(MODEL).source == "measured"
    _, after = fold([*SESSION, marked, finished(usage, len(SESSION))])
    assert after.reading(MODEL).source == "estimated"


def test_an_item_that_comes_again_stands_once() -> None:
    call = Item(n=1, kind="tool_call", content="{}", response=1, call_id="a", name="x")
    result = Item(n=2, kind="tool_result", content="y", response=1, call_id="a", name="x")
    window = fold([ItemAdded(item=shown_item) for shown_item in (call, result, call, result)])[0]
    assert [item.n for item in window.items] == [1, 2]
