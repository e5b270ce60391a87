import msgspec
import pytest
from hypothesis import given

from fakes.openai_rules import responses_complaint
from fakes.windows import IMAGE, MODEL, OTHER, OWN, windows
from pinfold.rollout.context import Context, ToolSchema
from pinfold.rollout.items import Item, Origin
from pinfold.wire.atoms import BrokenPair
from pinfold.wire.responses import render as responses

ENCRYPTED = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "encrypted_content": "x",
    "status": None,
}


def thought(origin: Origin = OWN, opaque: dict[str, object] | None = None) -> Item:
    return Item(
        n=1, kind="reasoning", content="hm", response=1, origin=origin, opaque=opaque or ENCRYPTED
    )


def kinds(*items: Item) -> list[str]:
    return [entry["type"] for entry in responses.input_items(items, MODEL)]


ANSWER = Item(n=2, kind="assistant", content="Yes.", response=1, origin=OWN)


@given(windows())
def test_any_whole_atoms_make_a_legal_request(items: list[Item]) -> None:
    assert responses_complaint(responses.input_items(items, MODEL)) is None


def test_reasoning_goes_back_verbatim_to_its_own_model_alone() -> None:
    sent = responses.input_items([thought(), ANSWER], MODEL)
    assert sent[0] == {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    assert kinds(thought(origin=OTHER), ANSWER) == ["message"]


def test_reasoning_that_the_server_would_have_to_remember_is_left_out() -> None:
    assert kinds(thought(opaque={"type": "reasoning", "id": "rs_1"}), ANSWER) == ["message"]


def test_reasoning_that_led_to_nothing_is_left_out() -> None:
    after = Item(n=3, kind="user", content="and?")
    assert kinds(thought(), after) == ["message"]


def test_an_opaque_compaction_goes_back_to_its_own_model_alone() -> None:
    opaque = {"type": "compaction", "encrypted_content": "x"}
    own = Item(n=1, kind="compaction", origin=OWN, opaque=opaque)
    other = Item(n=1, kind="compaction", origin=OTHER, opaque=opaque)
    assert responses.input_items([own], MODEL) == [opaque]
    assert responses.input_items([other], MODEL) == []


def test_calls_come_before_their_results() -> None:
    call = Item(n=1, kind="tool_call", content="{}", response=1, call_id="a", name="look")
    result = Item(n=2, kind="tool_result", content="seen", response=1, call_id="a")
    assert kinds(result, call) == ["function_call", "function_call_output"]
    with pytest.raises(BrokenPair):
        responses.input_items([call], MODEL)


def test_tools_are_functions() -> None:
    schema = ToolSchema("look", "Looks.", {"type": "object"})
    (tool,) = responses.tools(Context(tools=(schema,)))
    assert (tool["type"], tool["name"], tool["strict"]) == ("function", "look", False)


PICTURE = {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"}


def test_pictures_go_out_with_prompts_and_results() -> None:
    prompt = Item(n=1, kind="user", content="Look:", images=(IMAGE,))
    call = Item(n=2, kind="tool_call", content="{}", response=1, call_id="a", name="shot")
    result = Item(
        n=3, kind="tool_result", content="taken", response=1, call_id="a", images=(IMAGE,)
    )
    sent = responses.input_items([prompt, call, result], MODEL)
    assert sent[0]["content"] == [{"type": "input_text", "text": "Look:"}, PICTURE]
    assert sent[2]["output"] == [{"type": "input_text", "text": "taken"}, PICTURE]
    alone = responses.input_items([Item(n=1, kind="user", images=(IMAGE,))], MODEL)
    assert alone[0]["content"] == [PICTURE]


def test_a_model_without_eyes_is_told_what_it_does_not_see() -> None:
    blind = msgspec.structs.replace(MODEL, vision=False)
    call = Item(n=1, kind="tool_call", content="{}", response=1, call_id="a", name="shot")
    result = Item(
        n=2, kind="tool_result", content="taken", response=1, call_id="a", images=(IMAGE,)
    )
    sent = responses.input_items([call, result], blind)
    assert sent[1]["output"] == "taken\n[image: image/png, 8x6, not shown to this model]"
