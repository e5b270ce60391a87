"""A tool says all that the rest needs to know of it; its calls keep their order."""

import asyncio
import json
import threading
from pathlib import Path

from fakes.agent import Stage, stage
from fakes.provider import calls, says
from pinfold.ports.approver import Decision
from pinfold.ports.tool import Observation, Review, Tool, ToolContext, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.rollout.context import ToolSchema
from pinfold.rollout.items import Image

PICTURE = Image("image/png", "iVBORw0KGgo=", 1, 1)


class Scan(Tool):
    """Nobody has heard of it."""

    schema = ToolSchema("scan", "Scans.", {"type": "object", "properties": {}})
    kind: ToolKind = "web"
    parallel = True
    bodies = ("page",)
    editable = "page"
    searches = True
    quiet = True

    def __init__(self) -> None:
        self.both = asyncio.Barrier(2)

    def names(self, arguments: str) -> tuple[str, ...]:
        return (str(json.loads(arguments)["about"]),)

    def review(self, arguments: str, context: ToolContext) -> Review:
        return Review("write", f"scan {json.loads(arguments)['about']}")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        await self.both.wait()
        about = json.loads(arguments)["about"]
        seen = (Observation(about, "file", "read", "h"),)
        return ToolOutcome("It is flat.", observations=seen, images=(PICTURE,))


def scan(call_id: str, about: str) -> tuple[str, str, str]:
    return call_id, "scan", json.dumps({"about": about, "page": "x"})


async def say(on: Stage, prompt: str) -> None:
    on.session.send(prompt)
    async with asyncio.timeout(30):
        await on.session.idle()


async def test_a_tool_nobody_has_heard_of_says_it_all(tmp_path: Path) -> None:
    script = [calls(scan("c1", "a.png"), scan("c2", "b.png")), says("Flat.")]
    on = await stage(tmp_path, script, Decision("yes"), Decision("yes"), with_tools=[Scan()])
    await say(on, "Look.")  # each call waits for the other
    assert [question.editable for question in on.user.asked] == ["page", "page"]
    results = on.items("tool_result")
    result = next(item for item in results if item.call_id == "c1")
    stated = {"act": "web", "bodies": ["page"], "names": ["a.png"], "title": "scan a.png"}
    assert result.detail == {"ok": True, **stated, "searches": True, "quiet": True}
    archive = on.session.window.history.archive
    assert archive.touches(result.n) == {"a.png": "found"}
    assert archive.head(result.n).quiet
    sent = on.provider.requests[-1].items
    assert [image for item in sent for image in item.images] == [PICTURE, PICTURE]


class Slow(Scan):
    """The first call is reviewed last, and ends last."""

    def __init__(self) -> None:
        self.reviewed = threading.Event()
        self.ended = asyncio.Event()

    def review(self, arguments: str, context: ToolContext) -> Review:
        if "first" in arguments:
            assert self.reviewed.wait(30)
        self.reviewed.set()
        return Review("command", "scan")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        if "first" in arguments:
            await self.ended.wait()
        self.ended.set()
        return ToolOutcome(arguments)


async def test_questions_and_results_come_in_the_order_of_the_calls(tmp_path: Path) -> None:
    script = [calls(scan("c1", "first"), scan("c2", "second")), says("Done.")]
    on = await stage(tmp_path, script, Decision("yes"), Decision("yes"), with_tools=[Slow()])
    await say(on, "Look.")
    assert [question.call_id for question in on.user.asked] == ["c1", "c2"]
    results = on.items("tool_result")
    assert [item.call_id for item in results] == ["c1", "c2"]


async def test_an_interruption_writes_a_result_for_each_call_in_their_order(
    tmp_path: Path,
) -> None:
    script = [calls(*(scan(f"c{n}", "first") for n in range(12)))]
    tool = Slow()
    tool.reviewed.set()
    on = await stage(tmp_path, script, *[Decision("yes")] * 12, with_tools=[tool])
    on.session.send("Look.")
    await on.until(lambda: len(on.user.asked) == 8)
    on.session.interrupt()
    async with asyncio.timeout(30):
        await on.session.idle()
    results = on.items("tool_result")
    assert [item.call_id for item in results] == [f"c{n}" for n in range(12)]
