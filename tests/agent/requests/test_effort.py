"""How hard the model is told to think."""

from pathlib import Path

import pytest

from fakes.agent import stage
from fakes.provider import says
from pinfold.agent.options import Options
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import ModelChanged

SOL = ModelInfo("gpt-6.2-sol", "openai", 272_000, "table")
FOUR = ModelInfo("gpt-5.4-mini", "openai", 272_000, "table")


async def test_it_is_journalled_and_sent_with_the_next_request(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("a"), says("b"), says("c")], model=SOL)
    for level in ("low", "max", None):
        await on.session.choice.think(level)
        await on.session.send("go")
    await on.session.close()
    assert [request.reasoning_effort for request in on.provider.requests] == ["low", "max", None]
    changes = on.events_of(ModelChanged)
    assert [change.effort for change in changes] == ["", "low", "max", ""]


async def test_a_level_that_the_model_does_not_take_is_refused(tmp_path: Path) -> None:
    on = await stage(tmp_path, [], model=SOL, options=Options(reasoning_effort="high"))
    with pytest.raises(ValueError, match=r"takes low, medium, high, xhigh, max, not “none”"):
        await on.session.choice.think("none")
    assert on.session.choice.effort == "high"
    await on.session.close()


async def test_another_model_that_does_not_take_the_level_thinks_as_it_does_by_itself(
    tmp_path: Path,
) -> None:
    on = await stage(tmp_path, [], model=SOL, others=[FOUR])
    await on.session.choice.think("high")
    await on.session.set_model("gpt-5.4-mini")
    assert on.session.choice.effort == "high"
    await on.session.choice.think("none")
    await on.session.set_model("gpt-6.2-sol")
    assert on.session.choice.effort is None
    await on.session.close()
