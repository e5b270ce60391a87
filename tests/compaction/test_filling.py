"""What the room that is left under the target goes to."""

from typing import Any

from fakes.compactions import Live, planned
from pinfold.compaction.budget import room
from pinfold.compaction.checkpoint_text import checkpoint_text
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import Data, ItemAdded
from pinfold.rollout.items import Item, Kind

WINDOW = 16_384
ROOM = "a message, as there is room"


def talk(turns: int, words: int = 20) -> Live:
    """Each turn a request, a call with its result, and an answer of so many words."""
    data: list[Data] = []
    for turn in range(turns):
        n = 4 * turn
        called: dict[str, Any] = {
            "response": 2 * turn + 1,
            "call_id": f"c{turn}",
            "name": "read_file",
        }
        items = [
            Item(n=n + 1, kind="user", content=f"Look at reader {turn}."),
            Item(n=n + 2, kind="tool_call", content="{}", **called),
            Item(n=n + 3, kind="tool_result", content="line\n" * 600, **called),
            Item(
                n=n + 4, kind="assistant", content=f"Reader {turn}. " * words, response=2 * turn + 2
            ),
        ]
        data += [ItemAdded(item=item) for item in items]
    return Live(data)


def say(live: Live, kind: Kind, text: str) -> None:
    n = live.next_n
    live.add(ItemAdded(item=Item(n=n, kind=kind, content=text, response=900 + n)))


def plan_of(live: Live) -> CompactionPlan:
    return planned(live.view(WINDOW, 2_048), "checkpoint", PlanOptions(max_tail_messages=2))


def filled(plan: CompactionPlan) -> list[int]:
    return [each.n for each in plan.items if each.reason == ROOM]


def test_the_agents_newest_messages_stay_and_the_target_holds() -> None:
    live = talk(20)
    plan = plan_of(live)
    view = live.view(WINDOW, 2_048)
    assert filled(plan) == [76]  # 80 is in the tail, and two are as long as the tail may be
    assert plan.sizes.after <= view.corrected(room(view, PlanOptions()).target)
    wide = planned(view, "checkpoint", PlanOptions())
    assert len(filled(wide)) > 1
    assert all(n % 4 == 0 for n in filled(wide))


def test_what_has_no_room_is_left_out() -> None:
    live = talk(20, words=2_000)
    assert filled(plan_of(live)) == []


def test_a_next_step_that_is_behind_us_does_not_come_back() -> None:
    live = talk(20)
    for text in ("Next step: port the tests.", "Next step: write the guide.", "It is written."):
        say(live, "user", "Go on.")
        say(live, "assistant", text)
    kept = planned(live.view(WINDOW, 2_048), "checkpoint", PlanOptions(max_tail_messages=4)).items
    by_text = {
        live.window.archive[each.n].content: each.reason
        for each in kept
        if live.window.archive[each.n].kind == "assistant"
    }
    assert by_text["Next step: port the tests."] != ROOM


def test_commitments_beyond_their_share_take_of_the_room() -> None:
    live = talk(2)
    for n in range(60):
        say(live, "user", f"Never rename the folder part_{n} without asking me.")
    view = live.view(WINDOW, 2_048)
    narrow, wide = (checkpoint_text(view, 3_000, more) for more in (0, 400))
    assert set(narrow.splitlines()) < set(wide.splitlines())
    plan = planned(view, "checkpoint", PlanOptions())
    assert plan.sizes.after <= view.corrected(room(view, PlanOptions()).target)
