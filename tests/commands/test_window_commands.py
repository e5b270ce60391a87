"""What the commands on the window do, and what they say of it."""

import pytest

from fakes.commands import FakeContext, run
from fakes.live_session import live_session
from pinfold.commands import registry
from pinfold.commands.arguments import CommandError
from pinfold.compaction.guards import MAX_FAILURES, RESUMES
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import ArtifactObserved
from pinfold.rollout.items import Item
from pinfold.window.refused import Refused

SMALL = ModelInfo("m", "p", 8_000, "table")


def items() -> list[Item]:
    """#1 a request, #2 and #3 a call and its result, #4 a reply, #5 a request."""
    return [
        Item(n=1, kind="user", content="Why does words() count empty strings?"),
        Item(n=2, kind="tool_call", name="read_file", call_id="c1", response=1, content="{}"),
        Item(n=3, kind="tool_result", call_id="c1", response=1, content="word " * 1_000),
        Item(n=4, kind="assistant", response=2, content="Because split keeps them. " * 20),
        Item(n=5, kind="user", content="Then mend it."),
    ]


@pytest.fixture
def context() -> FakeContext:
    session = live_session(gauge=None, items=items(), model=SMALL)
    session.append(ArtifactObserved(uri="src/counter.py", kind="file", op="read", item=3))
    return FakeContext(session)


# Pins


async def test_pin_tells_the_cost(context: FakeContext) -> None:
    await run(context, "/pin 1..3")
    assert context.told == ["Pinned #1..3: 1k tokens pinned, 13% of the window."]
    assert [pin for pin, _ in context.session.window.pins] == [1, 2, 3]


async def test_a_second_pin_tells_its_own_cost_and_that_of_all(context: FakeContext) -> None:
    await run(context, "/pin #1")
    await run(context, "/pin src/**")
    assert context.told == [
        "Pinned #1: 12 tokens pinned, under 1% of the window.",
        "Pinned src/**: 1k tokens; all pins: 1k tokens pinned, 13% of the window.",
    ]


async def test_pin_brings_back_what_was_masked_and_pins_counts_what_stands(
    context: FakeContext,
) -> None:
    await run(context, "/mask 3")
    await run(context, "/pins")
    await run(context, "/pin src/**")
    assert " #3 back in full: " in context.told[-1]
    assert " tokens more, window " in context.told[-1]
    await run(context, "/undo")
    assert context.told[-1].startswith("Undone: the pin of src/**.")
    assert context.session.window.form(3) == "masked"


async def test_a_glob_that_matches_nothing_yet_says_so(context: FakeContext) -> None:
    await run(context, "/pin docs/**")
    assert context.told == [
        "Pinned docs/**: nothing in the window yet; what matches later will be kept."
    ]


async def test_last_is_the_newest_item(context: FakeContext) -> None:
    await run(context, "/pin last")
    assert context.told[0].startswith("Pinned #5:")


async def test_pins_that_take_half_the_window_are_warned_of(context: FakeContext) -> None:
    context.session.append(Item(n=6, kind="user", content="word " * 3_500))
    context.session.append(Item(n=7, kind="user", content="and?"))
    await run(context, "/pin 3 6")
    assert context.levels == ["warning"]
    assert "Pins alone now take" in context.told[0].splitlines()[1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("/pin", "Name items: 12"),
        ("/pin 5..2", r"A range runs upwards: 2\.\.5\."),
        ("/pin 99", "There is no #99"),
        ("/unpin", "Nothing is pinned"),
        ("/mask 1", "#1: only results, and calls that write files, can be masked"),
        ("/mask docs/**", "No item in the window concerns"),
        ("/mask", "Name items"),
        ("/fold last", "#5: it is your latest request"),
        ("/unfold 3", "neither masked nor folded"),
        ("/undo", "nothing to undo in this window. /rewind goes back"),
        ('/goal ""', "needs text"),
        ("/threshold soon", "soon"),
    ],
)
async def test_what_cannot_be_done_is_refused_and_changes_nothing(
    context: FakeContext, text: str, why: str
) -> None:
    before = len(context.session.journalled)
    with pytest.raises((CommandError, Refused), match=why):
        await run(context, text)
    assert len(context.session.journalled) == before
    assert not context.told


async def test_pins_that_leave_no_room_are_refused_with_the_reason(context: FakeContext) -> None:
    context.session.append(Item(n=6, kind="user", content="word " * 7_000))
    with pytest.raises(Refused, match="The window could no longer work"):
        await run(context, "/pin 6")


async def test_unpin(context: FakeContext) -> None:
    await run(context, "/pin 1..3 src/**")
    await run(context, "/unpin #1")
    assert context.told[-1].startswith("Unpinned #1: pins still hold 1k tokens")
    await run(context, "/unpin src/**")
    await run(context, "/unpin all")
    assert context.told[-1] == "Unpinned #2..3: no pin is left."
    assert not context.session.window.pins


async def test_unpin_tells_what_still_holds_an_item(context: FakeContext) -> None:
    await run(context, "/pin 2..3")
    await run(context, "/unpin 3")
    said = "Unpinned #3: #3 still held by the pin on #2, pins still hold "
    assert context.told[-1].startswith(said)
    with pytest.raises(Refused, match="#3 is held by the pin on #2"):
        await run(context, "/unpin 3")


async def test_unpin_without_a_name_lists_what_there_is(context: FakeContext) -> None:
    await run(context, "/pin 1..2 src/**")
    with pytest.raises(CommandError, match=r"Which pin\? #1..2, src/\*\*; /unpin all"):
        await run(context, "/unpin")


async def test_pins_are_listed_in_their_order_with_cost_and_share(context: FakeContext) -> None:
    await run(context, "/pins")
    assert context.told[0].startswith("Nothing is pinned")
    await run(context, "/pin docs/**")
    await run(context, "/pin 2..4")
    await run(context, "/pin 1")
    await run(context, "/pins")
    head, *rows = context.told[-1].splitlines()
    assert head.startswith("Pins, oldest first: 1.1k tokens, 14% of the window")
    assert [row.split()[0] for row in rows] == ["docs/**", "#2..4", "#1"]
    assert len({len(row) for row in rows}) == 1


# Marks


async def test_mask_tells_what_it_freed_and_undo_brings_it_back(context: FakeContext) -> None:
    await run(context, "/mask src/**")
    assert context.told == ["Masked #3: 976 tokens freed, window 1.1k → 150. /undo brings it back."]
    assert context.session.window.form(3) == "masked"
    await run(context, "/undo")
    assert context.told[1] == "Undone: the mask of #3. Window 150 → 1.1k tokens."
    assert context.session.window.form(3) == "full"


async def test_what_is_left_alone_is_told_with_the_reason(context: FakeContext) -> None:
    await run(context, "/fold 1..5")
    told = context.told[0].splitlines()
    assert told[0].startswith("Folded #1..4: ")
    assert told[1] == "Not #5: it is your latest request."


async def test_fold_takes_the_other_half_along_and_unfold_brings_it_back(
    context: FakeContext,
) -> None:
    await run(context, "/fold 2")
    assert context.told[0].startswith("Folded #2..3: 9")
    await run(context, "/unfold 3")
    assert context.told[1].startswith("Unfolded #2..3: ")
    assert " tokens more, window " in context.told[1]
    assert "/undo" not in context.told[1]


async def test_a_long_list_is_cut_short() -> None:
    context = FakeContext(live_session(gauge=None))
    for n in range(1, 121, 3):
        call = Item(n=n, kind="tool_call", name="ls", call_id=f"c{n}", response=n, content="{}")
        result = Item(n=n + 1, kind="tool_result", call_id=f"c{n}", response=n, content="x\n" * 99)
        for item in (call, result, Item(n=n + 2, kind="user", content="go on")):
            context.session.append(item)
    await run(context, "/mask 1..120")
    done, *left = context.told[0].splitlines()
    assert "#2, #5, #8" in done
    assert " and 35 more: " in done
    assert left[0].startswith("Not #3, ")
    assert " more: only results" in left[0]
    assert max(map(len, (done, *left))) < 150


# The goal


async def test_the_first_request_is_the_goal_and_the_latest_the_task(context: FakeContext) -> None:
    await run(context, "/goal")
    assert context.told[0].splitlines() == [
        "Goal, your first request: Why does words() count empty strings?",
        "Current task, #5: Then mend it.",
    ]


@pytest.mark.parametrize("text", ['"Mend it"', "Mend it", "“Mend it”"])
async def test_the_goal_is_set_without_its_quotes(context: FakeContext, text: str) -> None:
    await run(context, f"/goal {text}")
    assert context.session.window.goal == "Mend it"
    assert context.told[0].startswith("Goal: Mend it\n")
    await run(context, "/goal clear")
    assert context.told[1].startswith("Goal, your first request: ")


async def test_quotes_inside_the_goal_stay(context: FakeContext) -> None:
    await run(context, '/goal say "hello"')
    assert context.session.window.goal == 'say "hello"'


async def test_no_goal_yet() -> None:
    context = FakeContext(live_session(gauge=None))
    await run(context, "/goal")
    assert "There is no goal yet" in context.told[0]


# The threshold


async def test_the_threshold_is_shown_and_changed(context: FakeContext) -> None:
    await run(context, "/threshold")
    said = "85% of the 6k tokens a request can use, so 5.1k"
    assert context.told == [f"Threshold: {said} (auto). The window has 1.1k."]
    await run(context, "/threshold 0.95")
    assert "95% of the 6k tokens a request can use, so 5.7k (auto)" in context.told[1]
    await run(context, "/threshold ask")
    assert "(ask)" in context.told[2]
    await run(context, "/threshold off")
    assert context.told[3].startswith("Threshold: off. /threshold auto or ask sets it to 95% of")
    assert context.session.reading().threshold is None
    await run(context, "/threshold auto")
    for _ in range(MAX_FAILURES):
        context.session._parts.auto_compaction._failed(ValueError("The disk is full."))
    await run(context, "/threshold")
    assert context.told[-1].endswith(f"(auto, paused as it failed). {RESUMES}")
    await run(context, "/status")
    assert "paused, as it failed" in context.told[-1]
    await run(context, "/threshold 0.9")
    assert context.told[-1].startswith("Threshold: 90% of")
    assert "paused" not in context.told[-1]


# Completion


async def test_completion_offers_globs_but_never_numbers(context: FakeContext) -> None:
    choices = registry.BY_SLASH["unpin"].choices
    assert choices is not None
    await run(context, "/pin 1 src/**")
    assert choices(context) == ["src/**", "all"]
