"""Windows made of whole atoms, for property tests."""

from hypothesis import strategies as st

from pinfold.ports.provider import ModelInfo
from pinfold.rollout.items import Image, Item, Kind, Origin

MODEL = ModelInfo("m", "p", 8_000, "table")
OWN = Origin("p", "m")
OTHER = Origin("p", "another")

IMAGE = Image("image/png", "aGk=", 8, 6)

texts = st.sampled_from(["", "a", "two words", "{", "\u2028"])
images = st.sampled_from([(), (IMAGE,), (IMAGE, IMAGE)])
alone: list[Kind] = ["user", "checkpoint", "summary", "compaction", "context"]

# Built once: a strategy that is made for each example costs more than all that is drawn from it.
_alone = st.lists(st.sampled_from(alone), max_size=2)
_in_response: list[Kind] = ["reasoning", "assistant", "tool_call"]
_parts = st.lists(st.sampled_from(_in_response), max_size=5)
_responses = st.integers(0, 5)
_origins = st.sampled_from([OWN, OTHER])
_any_origin = st.sampled_from([OWN, OTHER, None])


@st.composite
def windows(draw: st.DrawFn) -> list[Item]:
    """Any sequence of whole atoms, as a session may hold it after cuts and switches of model."""
    items: list[Item] = []
    for response in range(1, draw(_responses) + 1):
        for kind in draw(_alone):
            opaque = {"type": "compaction", "encrypted_content": "x"}
            items.append(
                Item(
                    n=0,
                    kind=kind,
                    content=draw(texts),
                    origin=draw(_any_origin),
                    opaque=opaque if kind == "compaction" else None,
                    images=draw(images) if kind in {"user", "context"} else (),
                )
            )
        items += _response(draw, response)
    return [Item(**{**_fields(item), "n": n}) for n, item in enumerate(items, 1)]


def _response(draw: st.DrawFn, response: int) -> list[Item]:
    origin = draw(_origins)
    parts: list[Item] = []
    results: list[Item] = []
    for number, kind in enumerate(draw(_parts)):
        call_id = f"c{response}.{number}" if kind == "tool_call" else None
        part = Item(
            n=0,
            kind=kind,
            content=draw(texts),
            response=response,
            call_id=call_id,
            name="tool" if call_id else None,
            origin=origin,
            opaque=draw(_opaque) if kind == "reasoning" else None,
        )
        parts.append(part)
        if call_id:
            results.append(
                Item(
                    n=0,
                    kind="tool_result",
                    content="r",
                    response=response,
                    call_id=call_id,
                    images=draw(images),
                )
            )
    return parts + (draw(st.permutations(results)) if len(results) > 1 else results)


_OPAQUE = [
    None,
    {"field": "reasoning_content"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
    {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": None},
]
_opaque = st.sampled_from(_OPAQUE)


def _fields(item: Item) -> dict[str, object]:
    return {name: getattr(item, name) for name in item.__struct_fields__}
