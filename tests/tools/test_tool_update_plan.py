"""`update_plan`: the whole plan, each time."""

from collections.abc import Callable
from typing import Any

import pytest

from pinfold.ports.tool import Tool, ToolError

Run = Callable[..., Any]

STEPS = [
    {"text": "Look", "status": "done"},
    {"text": "Leap", "status": "in_progress"},
    {"text": "Fall", "status": "pending"},
]


async def test_a_plan_is_recorded_whole(run: Run) -> None:
    outcome = await run("update_plan", steps=STEPS)
    assert outcome.output == "Plan recorded: 1 of 3 steps done."
    assert outcome.detail["plan"] == STEPS


async def test_a_plan_may_be_cleared(run: Run) -> None:
    outcome = await run("update_plan", steps=[])
    assert (outcome.output, outcome.detail["plan"]) == ("Plan cleared.", [])


@pytest.mark.parametrize(
    "steps",
    [
        [{"text": "Look"}],
        [{"text": "Look", "status": "perhaps"}],
        [{"text": " ", "status": "pending"}],
        [{"text": "Look", "status": "pending", "id": 1}],
        [{"text": "x" * 1_001, "status": "pending"}],
        STEPS * 11,
    ],
)
async def test_what_is_no_plan_is_refused(run: Run, steps: Any) -> None:
    with pytest.raises(ToolError, match="do not fit"):
        await run("update_plan", steps=steps)


def test_the_model_is_told_of_it_without_references(tools: dict[str, Tool]) -> None:
    steps = tools["update_plan"].schema.parameters["properties"]["steps"]
    assert steps["items"]["properties"]["status"]["enum"] == ["pending", "in_progress", "done"]
    assert "$defs" not in tools["update_plan"].schema.parameters
