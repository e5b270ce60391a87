"""The inserted text where there is little room for it."""

from fakes.compactions import Live, session
from pinfold.compaction.checkpoint_text import (
    CORE_HEADER,
    OPEN_HEADER,
    READINGS_HEADER,
    checkpoint_text,
    core_text,
)
from pinfold.rollout.events import GoalSet, ItemAdded, MemoryApplied
from pinfold.rollout.items import Item
from pinfold.rollout.memory import Evidence, PlanMemory, PlanStep

GOAL = "Port the shop to the new API. Prices come last. " + "The shop is old and large. " * 60


def live() -> Live:
    """A session with a long first message."""
    made = session(0)
    say(made, GOAL)
    return made


def say(live: Live, text: str, kind: str = "user") -> None:
    live.add(ItemAdded(item=Item(n=live.next_n, kind=kind, content=text)))  # type: ignore[arg-type]


def test_a_long_goal_is_told_by_its_first_sentences_and_leaves_room() -> None:
    made = live()
    rules = [f"Never touch the folder {name}/." for name in ("vendor", "legacy", "assets")]
    for rule in rules:
        say(made, rule)
    text = checkpoint_text(made.view(), 1_000)
    assert "- goal: Port the shop to the new API." in text
    assert "recall(1) brings all of #1" in text
    assert all(rule in text for rule in rules)


def test_where_not_all_fits_what_binds_comes_first() -> None:
    made = live()
    say(made, "Never touch the folder vendor/.")
    for number in range(40):
        say(made, f"The port of service number{number}x is {8000 + number}.")
    text = core_text(made.view(), 220)
    assert "Never touch the folder vendor/." in text
    assert "8039" in text
    assert "8000" not in text
    assert made.view().count(text) <= 220


def test_what_the_goal_says_gives_way_to_what_it_does_not() -> None:
    rules = [f"- Never touch the folder {name}/." for name in ("vendor", "legacy", "assets")]
    made = session(0)
    say(made, "\n".join(["Port the shop.", *rules]))
    say(made, "The dates must be written as YYYY-MM-DD.")
    text = core_text(made.view(), 85)
    assert text.count("vendor/") == 1
    assert "YYYY-MM-DD" in text


def test_what_is_left_open_stands_before_the_users_words() -> None:
    made = live()
    say(made, "One thing is still open: Does Ann want an alert for batch K-12?")
    say(made, "Noted. Next step: port the tests.", "assistant")
    text = core_text(made.view(), 400)
    assert text.startswith(f"{OPEN_HEADER}\n- question #2: Does Ann want")
    assert "- next by the agent #3: Next step: port the tests." in text
    assert text.index(OPEN_HEADER) < text.index(CORE_HEADER)
    plan = PlanMemory(steps=(PlanStep("1", "port"),), evidence=Evidence("user", "#1"))
    made.add(MemoryApplied(memory=plan))
    assert "- next" not in core_text(made.view(), 400)


def test_a_value_that_changed_in_output_is_told() -> None:
    made = live()
    for value in (100, 250):
        call_id = f"c{value}"
        made.add(
            ItemAdded(
                item=Item(
                    n=made.next_n, kind="tool_call", content="{}", call_id=call_id, name="show"
                )
            )
        )
        result = Item(
            n=made.next_n, kind="tool_result", content=f"lease_ms = {value}", call_id=call_id
        )
        made.add(ItemAdded(item=result))
    text = checkpoint_text(made.view(), 4_000)
    assert f"{READINGS_HEADER}\n- lease_ms = 250 (#5)" in text
    assert "lease_ms = 100" not in text


def test_a_goal_that_replaces_the_first_is_the_one_that_is_told() -> None:
    made = session(0)
    say(made, "Build a server that turns notes into pages.")
    say(made, "Change of plans: no server, make it a library.")
    text = core_text(made.view(), 400)
    assert "goal #2, in the place of the first: Change of plans: no server, make it a lib" in text
    assert "Build a server" not in text
    made.add(GoalSet(text="Build a server."))
    assert "in the place of the first" not in core_text(made.view(), 400)
