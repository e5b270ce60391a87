"""Questions that nobody answered, and the next step, as user and agent named them."""

import pytest

from pinfold.checkpoint.open_ends import OpenEnds

ASKED = "One thing is still open: Does Ann want an alert for batch K-12?"


def talk(*messages: str) -> list[str]:
    """What stands after messages, the user's first and then in turn."""
    ends = OpenEnds()
    for item, text in enumerate(messages, 1):
        (ends.read if item % 2 else ends.hear)(text, item)
    return [each.line for each in ends.standing()]


def test_a_question_that_is_called_open_stands_until_it_is_answered() -> None:
    line = "- question #1: Does Ann want an alert for batch K-12?"
    other = "The dashboard is done. Here is what came of it."
    assert talk(ASKED, "Noted.", other, "I went through it.") == [line]
    assert talk(ASKED, "Noted.", "Ann wants no alert for batch K-12.") == []
    assert talk(ASKED, "Noted.", "The alert for the batch was late.") == [line]


@pytest.mark.parametrize(
    "text", ["Does the cache work now?", "Why is the parser slow?", "Can you run the tests?"]
)
def test_what_the_user_asks_the_agent_is_not_open(text: str) -> None:
    assert talk(text, "It reads the file twice.") == []


def test_what_the_agent_asks_last_stands_until_the_user_comes_back_to_it() -> None:
    asked = "Done. Should dead letters be kept for a month?"
    line = "- question by the agent #2: Should dead letters be kept for a month?"
    assert talk("Go on.", asked) == [line]
    assert talk("Go on.", asked, "yes") == []
    assert talk("Go on.", asked, "Yes, please. " + "The page is slow. " * 20) == []
    assert talk("Go on.", asked, "The page is slow. " * 20) == [line]
    assert talk("Go on.", "Shall I?") == []


def test_the_next_step_is_what_was_named_last() -> None:
    named = "The exporter works. Next step: port the tests."
    assert talk("Go on.", named) == ["- next by the agent #2: Next step: port the tests."]
    assert talk("Go on.", named, "Thanks.", "Read it.") == [
        "- next by the agent #2: Next step: port the tests."
    ]
    assert talk("Go on.", named, "Next, please write the guide.") == [
        "- next #3: Next, please write the guide."
    ]
    assert talk("Go on.", "Remaining:\n- the guide\n- the tests") == [
        "- next by the agent #2: Remaining: the guide the tests"
    ]


def test_a_turn_leaves_what_its_last_message_names() -> None:
    ends = OpenEnds()
    ends.read("Go on.", 1)
    ends.hear("Next I'll read the parser.", 2)
    ends.hear("It is fixed.", 3)
    ends.read("Thanks.", 4)
    assert ends.standing() == ()


def test_a_plan_and_a_rewind_take_back_what_was_said() -> None:
    ends = OpenEnds()
    ends.hear("Next step: port the tests.", 1)
    ends.plan()
    assert ends.standing() == ()
    ends.read(ASKED, 2)
    ends.retract(1)
    assert ends.standing() == ()
