import json
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given

from fakes.openai_rules import chat_complaint
from fakes.windows import IMAGE, MODEL, OTHER, OWN, windows
from pinfold.rollout.context import AgentsFile, Context, FrontMemories, ToolSchema
from pinfold.rollout.items import Image, Item
from pinfold.wire.atoms import BrokenPair, atoms
from pinfold.wire.chat import render as chat

CONTEXT = Context(instructions="Be brief.")


def messages(*items: Item) -> list[chat.Message]:
    return chat.messages(Context(), items, MODEL)


def call(n: int, call_id: str, response: int = 1, arguments: str = "{}") -> Item:
    return Item(
        n=n, kind="tool_call", content=arguments, response=response, call_id=call_id, name="look"
    )


def result(n: int, call_id: str, response: int = 1) -> Item:
    return Item(n=n, kind="tool_result", content="seen", response=response, call_id=call_id)


@given(windows())
def test_any_whole_atoms_make_a_legal_request(items: list[Item]) -> None:
    found = chat.messages(CONTEXT, items, MODEL)
    assert chat_complaint(found) is None
    for before, after in pairwise(message["role"] for message in found):
        assert before != after or before == "tool"


@given(windows())
def test_no_word_of_the_window_is_lost(items: list[Item]) -> None:
    sent = json.dumps(chat.messages(CONTEXT, items, MODEL))
    for item in items:
        if item.kind in {"user", "assistant", "checkpoint", "summary", "context"}:
            assert json.dumps(item.content)[1:-1] in sent


def test_text_and_parallel_calls_are_one_message_and_results_follow_in_order() -> None:
    text = Item(n=1, kind="assistant", content="Looking.", response=1)
    found = messages(text, call(2, "a"), call(3, "b"), result(4, "b"), result(5, "a"))
    assert [m["role"] for m in found] == ["assistant", "tool", "tool"]
    assert found[0]["content"] == "Looking."
    assert [c["id"] for c in found[0]["tool_calls"]] == ["a", "b"]
    assert [m["tool_call_id"] for m in found[1:]] == ["a", "b"]


def test_neighbours_of_one_role_merge() -> None:
    found = messages(
        Item(n=1, kind="summary", content="Before."),
        Item(n=2, kind="user", content="Now."),
        Item(n=3, kind="assistant", content="I was", response=1, state="interrupted"),
        Item(n=4, kind="assistant", content="I am back", response=2),
        call(5, "a", response=2),
        result(6, "a", response=2),
    )
    assert found[0] == {"role": "user", "content": "Before.\n\nNow."}
    assert found[1]["content"] == "I was\n\nI am back"
    assert len(found[1]["tool_calls"]) == 1


@pytest.mark.parametrize(
    "items",
    [
        [call(1, "a")],
        [result(1, "a")],
        [call(1, "a"), result(2, "b")],
        [call(1, "a"), call(2, "a"), result(3, "a")],
        [call(1, "a"), result(2, "a"), result(3, "a")],
    ],
)
def test_a_broken_pair_never_reaches_the_wire(items: list[Item]) -> None:
    with pytest.raises(BrokenPair):
        messages(*items)


def test_reasoning_goes_back_to_its_own_model_alone() -> None:
    def sent(**fields: object) -> chat.Message:
        thought = Item(n=1, kind="reasoning", content="hm", response=1, **fields)  # type: ignore[arg-type]
        return messages(thought, Item(n=2, kind="assistant", content="Yes.", response=1))[0]

    opaque = {"field": "reasoning_content"}
    assert sent(origin=OWN, opaque=opaque)["reasoning_content"] == "hm"
    assert "reasoning_content" not in sent(origin=OTHER, opaque=opaque)
    assert "reasoning_content" not in sent(origin=OWN)


def test_broken_arguments_go_back_as_an_object() -> None:
    """llama.cpp and vLLM parse the arguments of old calls and would refuse each later request."""
    found = messages(call(1, "a", arguments='{"path": "x'), result(2, "a"))
    arguments = found[0]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"malformed": '{"path": "x'}
    found = messages(call(1, "a", arguments=""), result(2, "a"))
    assert found[0]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_the_system_message_says_what_each_agents_file_is() -> None:
    context = Context(
        instructions="Be brief.",
        agents=(AgentsFile("/p/AGENTS.md", "Use tabs."),),
        environment="Linux",
    )
    (message,) = chat.messages(context, [], MODEL)
    assert message["role"] == "system"
    assert message["content"].startswith("Be brief.")
    assert message["content"].endswith("Linux")
    assert "from /p/AGENTS.md:\n\nUse tabs." in message["content"]


def test_tools_are_functions() -> None:
    schema = ToolSchema("look", "Looks.", {"type": "object"})
    (tool,) = chat.tools(Context(tools=(schema,)))
    assert tool["function"] == {
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object"},
    }


def test_a_result_that_something_came_before_moves_up_to_its_call() -> None:
    items = [call(1, "a"), Item(n=2, kind="user", content="and?"), result(3, "a")]
    assert [[item.n for item in atom] for atom in atoms(items)] == [[1, 3], [2]]


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


def test_pictures_go_out_with_the_text_they_came_with() -> None:
    found = messages(
        Item(n=1, kind="user", content="Look:", images=(IMAGE,)),
        Item(n=2, kind="user", content="See it?"),
        Item(n=3, kind="assistant", content="Yes.", response=1),
        Item(n=4, kind="user", images=(IMAGE,)),
    )
    look, see = {"type": "text", "text": "Look:"}, {"type": "text", "text": "See it?"}
    assert [message["content"] for message in found] == [[look, PICTURE, see], "Yes.", [PICTURE]]


def test_pictures_of_results_follow_the_last_result_of_the_response() -> None:
    shot = Item(n=3, kind="tool_result", content="taken", response=1, call_id="a", images=(IMAGE,))
    after = Item(n=5, kind="user", content="And now?")
    found = messages(call(1, "a"), call(2, "b"), shot, result(4, "b"), after)
    assert [m["role"] for m in found] == ["assistant", "tool", "tool", "user"]
    assert [m["content"] for m in found[1:3]] == ["taken", "seen"]
    texts = [part.get("text") for part in found[3]["content"]]
    assert texts == ["From the result of a:", None, "And now?"]
    assert found[3]["content"][1] == PICTURE


def test_a_model_without_eyes_is_told_what_it_does_not_see() -> None:
    blind = msgspec.structs.replace(MODEL, vision=False)
    unknown = Image("image/webp", "aGk=")
    items = [
        Item(n=1, kind="user", content="Look:", images=(IMAGE, unknown)),
        call(2, "a"),
        Item(n=3, kind="tool_result", response=1, call_id="a", images=(IMAGE,)),
    ]
    found = chat.messages(Context(), items, blind)
    line = "[image: image/png, 8x6, not shown to this model]"
    webp = "[image: image/webp, not shown to this model]"
    assert [found[0]["content"], found[2]["content"]] == [f"Look:\n{line}\n{webp}", line]


def test_memories_come_last_unless_the_user_folded_them() -> None:
    told = Context(
        instructions="Be brief.", environment="Linux", memories=FrontMemories("Use make.")
    )
    folded = msgspec.structs.replace(told, memories=FrontMemories("Use make.", folded=True))
    assert chat.messages(told, [], MODEL)[0]["content"] == "Be brief.\n\nLinux\n\nUse make."
    assert chat.messages(folded, [], MODEL)[0]["content"] == "Be brief.\n\nLinux"
