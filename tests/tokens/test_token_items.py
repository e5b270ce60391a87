"""What an item and the context weigh in a request."""

import pytest

from pinfold.rollout.events import AgentsFile, Context, ToolSchema
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import WireApi, count_context, count_item

COUNTER = Counter("none")
LONG = "word " * 500
SHELL = ToolSchema("shell", "Run a command.", {"type": "object"})


@pytest.mark.parametrize("wire_api", ["chat", "responses"])
def test_an_item_weighs_its_text_and_a_little_more(wire_api: WireApi) -> None:
    text = COUNTER.count(LONG)
    for item in (
        Item(n=1, kind="user", content=LONG),
        Item(n=1, kind="assistant", content=LONG),
        Item(n=1, kind="tool_call", name="shell", content=LONG),
        Item(n=1, kind="tool_result", name="shell", content=LONG),
        Item(n=1, kind="reasoning", content=LONG, opaque={"id": "r"}),
    ):
        assert text < count_item(COUNTER, item, wire_api) < text + 20


def test_the_name_of_a_call_counts() -> None:
    short, long = (Item(n=1, kind="tool_call", name=name) for name in ("a", "a_b_c_d_e_f_g"))
    assert count_item(COUNTER, short, "chat") < count_item(COUNTER, long, "chat")


def test_reasoning_that_cannot_be_sent_back_weighs_nothing() -> None:
    assert count_item(COUNTER, Item(n=1, kind="reasoning", content=LONG), "responses") == 0


@pytest.mark.parametrize("wire_api", ["chat", "responses"])
def test_everything_in_the_context_counts(wire_api: WireApi) -> None:
    empty = count_context(COUNTER, Context(), wire_api)
    assert empty < 10
    for context in (
        Context(instructions=LONG),
        Context(environment=LONG),
        Context(agents=(AgentsFile("AGENTS.md", LONG),)),
        Context(tools=(ToolSchema("shell", LONG, {}),)),
        Context(tools=(ToolSchema("shell", "", {"description": LONG}),)),
    ):
        assert count_context(COUNTER, context, wire_api) > COUNTER.count(LONG) + empty
    one = count_context(COUNTER, Context(tools=(SHELL,)), wire_api)
    two = count_context(COUNTER, Context(tools=(SHELL, SHELL)), wire_api)
    assert two - one == one - empty
