"""Plan mode: nothing is changed until the user accepts the plan."""

import json
from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.provider import Step, calls, says
from pinfold.agent.turn.planning import steps_of
from pinfold.ports.approver import Decision

PLAN = "Here is what I would do.\n\n1. **Read** `cart.py`\n2. Fix the rounding\n\nTests: pytest."
WRITE = calls(("c1", "write_file", json.dumps({"path": "a.txt", "content": "x"})))


async def planned(root: Path, decision: Decision, *after: list[Step]) -> Stage:
    on = await stage(root, [WRITE, says(PLAN), *after], decision)
    on.session.set_approvals("plan")
    await on.say("fix the cart")
    return on


def texts(on: Stage, kind: str) -> list[str]:
    return [item.content for item in on.session.items if item.kind == kind]


@pytest.mark.parametrize(("choice", "mode"), [(0, "ask"), (1, "workspace")])
async def test_an_accepted_plan_is_recorded_and_worked_on(
    tmp_path: Path, choice: int, mode: str
) -> None:
    answers = ("Yes, and ask before each edit", "Yes, and edit without asking")
    on = await planned(tmp_path, Decision("yes", answers[choice]), says("Done."))
    assert "refused" in texts(on, "tool_result")[0].lower()
    assert not (tmp_path / "work" / "a.txt").exists()
    assert [(step.text, step.status) for step in on.session.plan] == [
        ("Read cart.py", "pending"),
        ("Fix the rounding", "pending"),
    ]
    assert on.session.approvals == mode
    assert texts(on, "user") == ["fix the cart", "Go ahead with the plan."]
    told = [text for text in texts(on, "context") if "plan mode" in text.lower()]
    assert len(told) == 2
    assert told[0].startswith("The user wants a plan")
    assert told[1].startswith("Plan mode has ended")


async def test_words_go_on_with_the_planning(tmp_path: Path) -> None:
    on = await planned(tmp_path, Decision("yes", "without TLS"), says("Which file do you mean?"))
    assert texts(on, "user") == ["fix the cart", "without TLS"]
    assert on.session.approvals == "plan"
    assert not on.session.plan
    assert len(on.user.asked) == 1  # a question is no plan


async def test_another_mode_ends_it(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says(PLAN)])
    on.session.set_approvals("plan")
    on.session.set_approvals("ask")
    await on.say("fix the cart")
    assert not on.user.asked


def test_steps_are_the_numbered_lines() -> None:
    assert steps_of("1) one\n   - a\n2) *two*\n10. three\nin 2. no") == ["one", "two", "three"]
