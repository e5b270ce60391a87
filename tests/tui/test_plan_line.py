"""The plan above the prompt."""

from fakes.live_session import live_session
from fakes.screen import make_app, until
from pinfold.rollout.items import Item
from pinfold.tui.plan_line import PlanLine


def planned(n: int, *statuses: str) -> Item:
    steps = [{"text": f"step {at}", "status": status} for at, status in enumerate(statuses, 1)]
    return Item(n=n, kind="tool_result", name="update_plan", detail={"act": "plan", "plan": steps})


async def test_it_is_a_line_that_unfolds_and_goes_once_all_is_done() -> None:
    session = live_session()
    app = make_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: session.approver)
        line = app.screen.query_one(PlanLine)
        assert not line.display
        session.append(planned(1, "done", "in_progress", "pending"))
        await until(pilot, lambda: line.display)
        assert str(line.render()) == "Plan 1/3 · Ctrl+T unfolds · now: step 2"
        await pilot.press("ctrl+t")
        shown = ["Plan 1/3 · Ctrl+T folds", "✓ step 1", "◐ step 2", "○ step 3"]
        assert str(line.render()).splitlines() == shown
        await pilot.press("ctrl+t")
        session.append(Item(n=2, kind="user", content="go on"))
        assert line.display
        session.append(planned(3, "done", "done", "done"))
        await until(pilot, lambda: "3/3" in str(line.render()))
        session.append(Item(n=4, kind="user", content="and now this"))
        await until(pilot, lambda: not line.display)
