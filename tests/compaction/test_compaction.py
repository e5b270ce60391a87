"""Any window, any pins, any options: a plan that holds, or a plain reason why there is none."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.compactions import Live, apply, planned, session, working
from fakes.histories import histories
from pinfold.compaction.engine import validate
from pinfold.compaction.refusals import Impossible, NoGain
from pinfold.compaction.strategies.registry import house
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import ArtifactObserved, Data, ItemAdded, Pin, PinsChanged
from pinfold.rollout.items import Image, Item
from pinfold.wire.atoms import atoms

numbers = st.frozensets(st.integers(1, 40), max_size=3)
options = st.builds(
    PlanOptions,
    target_pct=st.sampled_from([0.05, 0.35, 1.0]),
    min_headroom_tokens=st.sampled_from([0, 100, 2_048, 50_000]),
    max_tail_messages=st.integers(0, 20),
    keep_files_glob=st.sampled_from([(), ("**",), ("src/**", "*.md")]),
    user_message_tokens=st.sampled_from([0, 10, 20_000]),
    keep=numbers,
    fold=numbers,
    text=st.sampled_from([None, None, "", "what the user made of it"]),
)
names = st.sampled_from(sorted(house()))
sizes = st.sampled_from([60, 120, 300, 1_000, 4_096, 8_192])
PICTURE = Image("image/png", "aGk=", 800, 600)
BASE64 = "QUJD" * 200


def send(live: Live) -> None:
    """Raises `BrokenPair` where the next request could not be written for a wire."""
    waiting = {call.n for call in live.window.open_calls}
    atoms(item for item in live.window.items if item.n not in waiting)


def window_of(*items: Item) -> Live:
    return Live(ItemAdded(item=item) for item in items)


def verdict(plan: object, n: int) -> str:
    return next(item.verdict for item in plan.items if item.n == n)  # type: ignore[attr-defined]


@settings(deadline=None, max_examples=70, suppress_health_check=[HealthCheck.too_slow])
@given(histories(), options, names, sizes)
def test_a_plan_holds_whatever_the_window(
    data: list[Data], options: PlanOptions, name: str, size: int
) -> None:
    live = Live(data)
    view = live.view(size, size // 4)
    try:
        plan = planned(view, name, options)
    except (Impossible, NoGain):
        return
    validate(view, plan)
    assert plan == planned(live.view(size, size // 4), name, options)
    apply(live, plan)
    send(live)
    after = live.view(size, size // 4)
    assert after.tokens == sum(live.gauge.tokens)
    assert plan.sizes.after < plan.sizes.before or view.unreadable
    assert view.unreadable.isdisjoint(after.by_number) or plan.sizes.after < plan.sizes.before
    assert plan.sizes.headroom >= 0
    for entry in view.entries:
        if entry.pin is not None:
            assert live.window.form(entry.item.n) == entry.form
    request = view.latest_request
    if request is not None:
        assert request.item.n in live.window.forms or request.full > size / 4


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(options, names), min_size=2, max_size=3))
def test_what_one_plan_worked_out_changes_no_other(wishes: list[tuple[PlanOptions, str]]) -> None:
    live = session(6)
    live.add(PinsChanged(add=(12, "src/part_1.py")))
    view = live.view(4_096, 1_024)
    for wish, name in wishes:
        try:
            plan = planned(view, name, wish)
        except (Impossible, NoGain):
            continue
        assert plan == planned(live.view(4_096, 1_024), name, wish)


@pytest.mark.parametrize(
    "size",
    [
        4_096,
        32_768,
        *(pytest.param(size, marks=pytest.mark.slow) for size in (8_192, 128_000, 1_047_576)),
    ],
)
def test_twenty_compactions_in_a_row_stay_within_the_target(size: int) -> None:
    live = session(1)
    reserve = min(size // 4, 16_384)
    after: list[int] = []
    for _ in range(20):
        while sum(live.gauge.tokens) < 0.8 * (size - reserve):
            for data in working(1, first=live.next_n, output=size // 40):
                live.add(data)
        plan = planned(live.view(size, reserve), options=PlanOptions(user_message_tokens=80))
        assert plan.sizes.headroom >= min(2_048, 0.15 * (size - reserve))
        apply(live, plan)
        send(live)
        after.append(plan.sizes.after)
    assert max(after) <= 0.4 * (size - reserve)  # the digest fills the target, never more


def test_pins_stay_whole_and_a_glob_protects_the_newest_read_and_edit() -> None:
    live = session(9)
    live.add(PinsChanged(add=(4, "src/part_1.py")))
    plan = planned(live.view())
    pinned = {item.n for item in plan.items if item.verdict == "pin"}
    assert pinned == {3, 4, 59, 60, 61, 62}
    assert {(n, "full") for n in pinned} <= set(plan.window)


@pytest.mark.parametrize("strategy", ["prune", "checkpoint", "layered"])
@pytest.mark.parametrize("pins", [("src/part_1.py", 3), (3, "src/part_1.py"), ("src/part_1.py", 4)])
def test_an_older_read_of_a_pinned_file_stays_if_it_is_pinned_by_number(
    strategy: str, pins: tuple[Pin, ...]
) -> None:
    live = session(9)  # the first and the eighth turn read that file
    live.add(PinsChanged(add=pins))
    stays = dict(planned(live.view(), strategy).window)
    assert stays[3] == stays[4] == "full"


@pytest.mark.parametrize("pins", [(), ("src/part_1.py",)])
@pytest.mark.parametrize("search", ["grep", "list"])
def test_a_search_is_no_read_of_the_files_that_it_found(pins: tuple[str, ...], search: str) -> None:
    live = session(9)
    n = live.next_n
    live.add(PinsChanged(add=pins))
    for kind in ("tool_call", "tool_result"):
        part = Item(n=live.next_n, kind=kind, content="def", response=99, call_id="g", name="grep")  # type: ignore[arg-type]
        live.add(ItemAdded(item=part))
    op = "list" if search == "list" else "read"
    live.add(ArtifactObserved(uri="src/part_1.py", kind="file", op=op, item=n + 1))  # type: ignore[arg-type]
    live.add(ItemAdded(item=Item(n=n + 2, kind="assistant", content="There.", response=100)))
    live.add(ItemAdded(item=Item(n=n + 3, kind="user", content="Then go on.")))
    options = PlanOptions(keep_files_glob=() if pins else ("src/part_1.py",), max_tail_messages=1)
    plan = planned(live.view(), options=options)
    kept = {item.n for item in plan.items if "src/part_1.py" in item.reason}
    assert {59, 60, 61, 62} <= kept
    assert not kept & {n, n + 1}


def test_a_search_is_protected_where_the_file_was_never_read() -> None:
    window = window_of(
        Item(n=1, kind="user", content="where?"),
        Item(n=2, kind="tool_call", content="{}", response=1, call_id="g", name="grep"),
        Item(n=3, kind="tool_result", content="def", response=1, call_id="g", name="grep"),
    )
    window.add(ArtifactObserved(uri="a.py", kind="file", op="read", item=3))
    window.add(PinsChanged(add=("*.py",)))
    assert [entry.pin for entry in window.view().entries] == [None, "*.py", "*.py"]


@pytest.mark.parametrize("name", sorted(house()))
def test_results_that_no_response_has_seen_stay_behind_a_new_prompt(name: str) -> None:
    live = session(9)
    for part in ("tool_call", "tool_result"):
        body = "line\n" * 200 if part == "tool_result" else "{}"
        call = Item(n=live.next_n, kind=part, content=body, response=99, call_id="s", name="shell")  # type: ignore[arg-type]
        live.add(ItemAdded(item=call))
    live.add(ItemAdded(item=Item(n=live.next_n, kind="user", content="What did it say?")))
    try:
        plan = planned(live.view(), name, PlanOptions(max_tail_messages=1))
    except NoGain:
        pytest.skip("it asks a model")
    forms = dict(plan.window)
    assert [forms.get(n) for n in range(live.next_n - 3, live.next_n)] == ["full"] * 3


def test_what_has_to_stay_is_named_where_no_window_can_hold_it() -> None:
    live = session(12)
    live.add(PinsChanged(add=(4, 12, 20, 28, 36)))
    with pytest.raises(Impossible) as refused:
        planned(live.view(3_000, 700))
    names = [name for name, _ in refused.value.breakdown]
    assert names == [
        "instructions and tools",
        "pins (#4, #12, #20, #28, #36)",
        "your latest request",
        "room for the reply",
    ]
    assert sum(tokens for _, tokens in refused.value.breakdown) > 3_000


def test_headroom_that_pins_take_is_told() -> None:
    live = session(12)
    live.add(PinsChanged(add=(4, 12, 20, 28, 36)))
    plan = planned(live.view(3_400, 700), options=PlanOptions(min_headroom_tokens=2_048))
    assert plan.sizes.headroom >= 0
    assert "pins (#4, #12, #20, #28, #36)" in plan.notes[0]


def test_pictures_base64_and_oversized_output_do_not_enter_a_new_window() -> None:
    def call(n: int, response: int, body: str, *images: Image) -> tuple[Item, Item]:
        given = {"response": response, "call_id": f"c{n}", "name": "shell"}
        return (
            Item(n=n, kind="tool_call", content="{}", **given),  # type: ignore[arg-type]
            Item(n=n + 1, kind="tool_result", content=body, images=images, **given),  # type: ignore[arg-type]
        )

    live = window_of(
        Item(n=1, kind="user", content="Look at this.", images=(PICTURE,)),
        *call(2, 1, "a picture", PICTURE),
        *call(4, 2, BASE64),
        *call(6, 3, "line\n" * 9_000),
        Item(n=8, kind="user", content="And at this one.", images=(PICTURE,)),
    )
    plan = planned(live.view())
    assert [verdict(plan, n) for n in (3, 5, 7)] == ["mask", "mask", "shorten"]
    assert verdict(plan, 1) == "replace"
    assert plan.inserted[1].content == "Look at this.\n[image: image/png, 800x600, in #1]"
    assert verdict(plan, 8) == "keep"


def test_a_latest_request_over_a_quarter_goes_in_as_head_and_tail() -> None:
    live = session(3)
    text = "\n".join(f"line {n} of the log" for n in range(2_000))
    live.add(ItemAdded(item=Item(n=live.next_n, kind="user", content=text)))
    n = live.next_n - 1
    plan = planned(live.view())
    assert verdict(plan, n) == "replace"
    cut = plan.inserted[-1]
    assert cut.kind == "user"
    assert cut.content.startswith("line 0 of the log")
    assert cut.content.endswith("line 1999 of the log")
    assert f"recall({n}) brings all of #{n}" in cut.content
    apply(live, plan)
    assert live.view().latest_request.item.content == cut.content  # type: ignore[union-attr]


def test_an_earlier_checkpoint_and_the_environment_leave() -> None:
    live = session(12)
    environment = "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"
    live.add(ItemAdded(item=Item(n=live.next_n, kind="context", content=environment)))
    gone = live.next_n - 1
    apply(live, planned(live.view()))
    assert gone not in live.window.forms
    checkpoint = live.window.boundaries[-1].inserted[0]
    for data in working(9, first=live.next_n):
        live.add(data)
    plan = planned(live.view())
    assert verdict(plan, checkpoint) == "replace"
    assert [item.kind for item in plan.inserted] == ["checkpoint"]


def test_edited_text_is_what_goes_in_and_must_fit() -> None:
    view = session(12).view()
    plan = planned(view, options=PlanOptions(text="My own words."))
    assert plan.inserted[0].content == "My own words."
    with pytest.raises(Impossible, match="the text to insert"):
        planned(view, options=PlanOptions(text="word " * 40_000))


def test_what_the_user_keeps_or_takes_out_this_once() -> None:
    view = session(12).view()
    plan = planned(view, options=PlanOptions(keep=frozenset({12}), fold=frozenset({92, 95})))
    assert [verdict(plan, n) for n in (11, 12)] == ["keep", "keep"]
    assert [verdict(plan, n) for n in (91, 92, 95)] == ["archive"] * 3


def test_a_rung_that_saves_too_little_falls_to_the_next() -> None:
    view = session(12, output=1).view()
    plan = planned(view, "prune")
    assert plan.strategy == "checkpoint"
    assert "prune" in plan.notes[-1]


def test_nothing_to_gain_is_said() -> None:
    with pytest.raises(NoGain, match="smaller"):
        planned(window_of(Item(n=1, kind="user", content="hi")).view())


def test_results_that_the_model_has_yet_to_see_are_shortened_where_room_is_short() -> None:
    live = session(50)
    given = {"response": 390, "call_id": "now", "name": "shell"}
    for kind, body in (("tool_call", "{}"), ("tool_result", "a fresh line\n" * 1_500)):
        item = Item(n=live.next_n, kind=kind, content=body, **given)  # type: ignore[arg-type]
        live.add(ItemAdded(item=item))
    fresh = live.next_n - 1
    for size, stays in ((128_000, "keep"), (16_000, "shorten"), (6_000, "shorten")):
        plan = planned(live.view(size), options=PlanOptions(filled=1.0))
        assert verdict(plan, fresh) == stays
        assert [item.kind for item in plan.inserted] == ["checkpoint"]
