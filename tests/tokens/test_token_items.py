"""What an item and the context weigh in a request."""

import pytest

from pinfold.rollout.context import AgentsFile, Context, FrontMemories, ToolSchema
from pinfold.rollout.items import Image, Item, Kind
from pinfold.settings import WireApi
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import context_parts, context_rows, count_item, is_known

COUNTER = Counter("none")
LONG = "word " * 500
SEALED = {"type": "reasoning", "encrypted_content": "g" * 4_200}
SHELL = ToolSchema("shell", "Run a command.", {"type": "object"})


@pytest.mark.parametrize("wire_api", ["chat", "responses"])
def test_an_item_weighs_its_text_and_a_little_more(wire_api: WireApi) -> None:
    text = COUNTER.count(LONG)
    for item in (
        Item(n=1, kind="user", content=LONG),
        Item(n=1, kind="assistant", content=LONG),
        Item(n=1, kind="tool_call", name="shell", content=LONG),
        Item(n=1, kind="tool_result", name="shell", content=LONG),
    ):
        assert text < count_item(COUNTER, item, wire_api) < text + 20


def test_the_name_of_a_call_counts() -> None:
    short, long = (Item(n=1, kind="tool_call", name=name) for name in ("a", "a_b_c_d_e_f_g"))
    assert count_item(COUNTER, short, "chat") < count_item(COUNTER, long, "chat")


@pytest.mark.parametrize(
    ("wire_api", "opaque", "tokens"),
    [
        ("responses", SEALED, 500),
        ("responses", {"type": "reasoning", "content": [{"text": LONG}]}, COUNTER.count(LONG)),
        ("responses", {"type": "reasoning", "id": "r"}, 0),
        ("responses", None, 0),
        ("chat", {"field": "reasoning_content"}, COUNTER.count(LONG)),
        ("chat", SEALED, 0),
        ("chat", None, 0),
    ],
)
def test_reasoning_weighs_what_can_go_back(
    wire_api: WireApi, opaque: dict[str, object] | None, tokens: int
) -> None:
    item = Item(n=1, kind="reasoning", content=LONG, opaque=opaque)
    assert count_item(COUNTER, item, wire_api) == tokens
    assert count_item(COUNTER, item, wire_api, own=False) == 0


def test_a_compaction_weighs_its_bytes_and_says_that_this_is_no_count() -> None:
    item = Item(
        n=1, kind="compaction", opaque={"type": "compaction", "encrypted_content": "g" * 4068}
    )
    assert count_item(COUNTER, item, "responses") == pytest.approx(342, rel=0.05)
    assert count_item(COUNTER, item, "responses", own=False) == 0
    assert not is_known(item)
    assert is_known(Item(n=1, kind="user", content=LONG))


@pytest.mark.parametrize("kind", ["user", "tool_result"])
def test_pictures_count_by_the_model_s_rule(kind: Kind) -> None:
    bare = Item(n=1, kind=kind, content=LONG)
    pictured = Item(n=1, kind=kind, content=LONG, images=(Image("image/png", "", 1024, 1024),))
    for model, tokens in (("gpt-4o", 765), ("claude-sonnet-4", 1399)):
        counts = [count_item(COUNTER, item, "chat", model=model) for item in (bare, pictured)]
        assert counts[1] - counts[0] == tokens


def weight(context: Context, wire_api: WireApi) -> int:
    return sum(context_parts(COUNTER, context, wire_api).values())


@pytest.mark.parametrize("wire_api", ["chat", "responses"])
def test_everything_in_the_context_counts(wire_api: WireApi) -> None:
    empty = weight(Context(), wire_api)
    assert empty < 10
    described = {"type": "object", "properties": {"path": {"description": LONG}}}
    for context in (
        Context(instructions=LONG),
        Context(environment=LONG),
        Context(agents=(AgentsFile("AGENTS.md", LONG),)),
        Context(tools=(ToolSchema("shell", LONG, {}),)),
        Context(tools=(ToolSchema("shell", "", described),)),
    ):
        assert weight(context, wire_api) > COUNTER.count(LONG) + empty
    first, second = (weight(Context(tools=(SHELL,) * n), wire_api) - empty for n in (1, 2))
    assert first < second <= 2 * first


def test_memories_have_a_row_of_their_own_also_when_they_are_folded() -> None:
    for folded, tokens in ((False, COUNTER.count(LONG) + 4), (True, 0)):
        context = Context(memories=FrontMemories(LONG, folded))
        assert ("memories", "what earlier sessions learned", tokens) in context_rows(
            COUNTER, context, "chat"
        )
        assert context_parts(COUNTER, context, "chat")["memories"] == tokens
