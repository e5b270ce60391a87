"""The user's words where what has to stay leaves little of the target, but room in the window."""

from collections.abc import Sequence

import pytest

from fakes.compactions import Live, apply, planned
from pinfold.rollout.context import Context
from pinfold.rollout.events import ContextSet, CoreChanged, Data, ItemAdded, PinsChanged
from pinfold.rollout.items import Item
from pinfold.rollout.values import CoreStatement

RULES = tuple(f"Never touch part {n}." for n in range(1, 4))


def crowded(*lines: int, pins: Sequence[int] = ()) -> Live:
    """A window whose instructions take a quarter of it. The agent waits for an answer to calls
    that printed so many lines each."""
    items = [
        Item(n=1, kind="user", content="Link all parts. " + "Mind the edge. " * 30),
        Item(n=2, kind="assistant", content="So it goes. " * 30, response=1),
        Item(n=3, kind="user", content="Link part 3. " + "Mind the edge. " * 40),
        Item(n=4, kind="assistant", content="So it goes. " * 70, response=2),
    ]
    for kind in ("tool_call", "tool_result"):
        items += [
            Item(
                n=len(items) + 1 + at,
                kind=kind,  # type: ignore[arg-type]
                content="{}" if kind == "tool_call" else "build/part.o is linked\n" * count,
                response=2,
                call_id=f"call_{at}",
                name="dump",
            )
            for at, count in enumerate(lines)
        ]
    data: list[Data] = [
        ContextSet(hash="1", context=Context(instructions="Be brief, and careful. " * 250)),
        CoreChanged(add=tuple(map(CoreStatement, RULES))),
        *(ItemAdded(item=item) for item in items),
        *([PinsChanged(add=tuple(pins))] if pins else []),
    ]
    return Live(data)


@pytest.mark.parametrize(
    ("lines", "pins"),
    [((60, 2, 500), ()), ((500, 500, 500), ()), ((2, 500), (1, 2)), ((100, 2, 300), (1, 2, 4))],
)
@pytest.mark.parametrize("window", [8_192, 7_168])
def test_a_target_is_no_reason_to_lose_them(
    lines: Sequence[int], pins: Sequence[int], window: int
) -> None:
    live = crowded(*lines, pins=pins)
    plan = planned(live.view(window, 2_048))
    assert plan.sizes.headroom >= 900
    apply(live, plan)
    told = "\n".join(item.content for item in live.window.items)
    assert [rule for rule in RULES if rule not in told] == []
