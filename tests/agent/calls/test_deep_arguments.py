"""A model that nests its arguments deeper than any parser goes."""

import json
from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.exports import transcript
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.compaction.view import PlanOptions
from pinfold.export.formats import renderer
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import ItemAdded
from pinfold.wire.chat import render as chat
from pinfold.wire.responses import render as responses

LARGE = ModelInfo("scripted-1", "scripted", 200_000, "config")
DEPTHS = [150, 900, 3_000]


def deep(depth: int) -> str:
    inner = '{"a":[' * (depth // 2) + "1" + "]}" * (depth // 2)
    return json.dumps({"content": "x " * 3_000})[:-1] + f', "command": {inner}}}'


async def told(root: Path, depth: int) -> Stage:
    on = await stage(root, [calls(("c1", "shell", deep(depth))), says("I see.")], model=LARGE)
    await on.say("go")
    return on


@pytest.mark.parametrize("depth", DEPTHS)
async def test_the_model_is_told_and_the_session_goes_on(tmp_path: Path, depth: int) -> None:
    on = await told(tmp_path, depth)
    result = on.session.items[2]
    assert (result.kind, result.detail["ok"]) == ("tool_result", False)
    assert "nested more than 100 levels deep" in result.content
    assert on.ended == "done"

    on.provider.script = [says("Still here.")]
    await on.say("and now?")
    options = Options(compact=PlanOptions(max_tail_messages=1))
    again = await on.again([says("And here.")], model=LARGE, options=options)
    await again.say("once more?")
    assert again.ended == "done"
    await again.session.compact("checkpoint")
    assert result.n not in [item.n for item in again.session.window.items]
    await again.session.close()


@pytest.mark.parametrize("depth", DEPTHS)
async def test_it_is_exported_as_text_and_goes_back_as_an_object(
    tmp_path: Path, depth: int
) -> None:
    on = await told(tmp_path, depth)
    items = [ItemAdded(item=item) for item in on.session.items]
    for name in ("md", "html", "messages", "codex"):
        assert "nested more than 100 levels" in renderer(name)(transcript(items)), name
    request = on.provider.requests[-1]
    said = chat.messages(request.context, request.items, request.model)[2]
    put = responses.input_items(request.items, request.model)[1]
    for arguments in (said["tool_calls"][0]["function"]["arguments"], put["arguments"]):
        assert json.loads(arguments) == {"malformed": deep(depth)}
