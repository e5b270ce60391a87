"""Windows made of whole atoms, for property tests."""

from hypothesis import strategies as st

from pinfold.ports import ModelInfo
from pinfold.rollout.items import Image, Item, Kind, Origin

MODEL = ModelInfo("m", "p", 8_000, "table")
OWN = Origin("p", "m")
OTHER = Origin("p", "another")

IMAGE = Image("image/png", "aGk=", 8, 6)

texts = st.sampled_from(["", "a", "two words", "{", "\u2028"])
images = st.sampled_from([(), (IMAGE,), (IMAGE, IMAGE)])
alone: list[Kind] = ["user", "checkpoint", "summary", "compaction", "context"]


@st.composite
def windows(draw: st.DrawFn) -> list[Item]:
    """Any sequence of whole atoms, as a session may hold it after cuts and switches of model."""
    items: list[Item] = []
    for response in range(1, draw(st.integers(0, 5)) + 1):
        for kind in draw(st.lists(st.sampled_from(alone), max_size=2)):
            opaque = {"type": "compaction", "encrypted_content": "x"}
            items.append(
                Item(
                    n=0,
                    kind=kind,
                    content=draw(texts),
                    origin=draw(st.sampled_from([OWN, OTHER, None])),
                    opaque=opaque if kind == "compaction" else None,
                    images=draw(images) if kind in {"user", "context"} else (),
                )
            )
        items += _response(draw, response)
    return [Item(**{**_fields(item), "n": n}) for n, item in enumerate(items, 1)]


def _response(draw: st.DrawFn, response: int) -> list[Item]:
    origin = draw(st.sampled_from([OWN, OTHER]))
    parts: list[Item] = []
    results: list[Item] = []
    kinds = st.sampled_from(["reasoning", "assistant", "tool_call"])
    for number, kind in enumerate(draw(st.lists(kinds, max_size=5))):
        call_id = f"c{response}.{number}" if kind == "tool_call" else None
        part = Item(
            n=0,
            kind=kind,
            content=draw(texts),
            response=response,
            call_id=call_id,
            name="tool" if call_id else None,
            origin=origin,
            opaque=draw(st.sampled_from(_OPAQUE)) if kind == "reasoning" else None,
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
    return parts + draw(st.permutations(results))


_OPAQUE = [
    None,
    {"field": "reasoning_content"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
    {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": None},
]


def _fields(item: Item) -> dict[str, object]:
    return {name: getattr(item, name) for name in item.__struct_fields__}
