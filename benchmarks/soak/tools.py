"""Tools of the scripted agent beside the real ones: one prints, one breaks, one hangs."""

import asyncio
import json

from pinfold.ports.tool import Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.rollout.context import ToolSchema

FAILURES: list[type[Exception]] = [RuntimeError, TimeoutError, ToolError, KeyError, OSError]


class Dump(Tool):
    """Prints as many lines as it is asked for, with no cap of its own."""

    schema = ToolSchema("dump", "Prints lines.", {"type": "object", "properties": {}})
    kind: ToolKind = "read"
    read_only = True
    parallel = True
    pages = True

    def review(self, arguments: str, context: ToolContext) -> Review:
        return Review("read", "dump")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        asked = json.loads(arguments)
        part, lines = asked["part"], asked["lines"]
        return ToolOutcome("".join(f"{n} build/part_{part}.o is linked\n" for n in range(lines)))


class Broken(Tool):
    """Raises what no tool should raise."""

    schema = ToolSchema("broken", "Breaks.", {"type": "object", "properties": {}})
    kind: ToolKind = "edit"

    def review(self, arguments: str, context: ToolContext) -> Review:
        return Review("read", "broken")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        raise FAILURES[json.loads(arguments)["how"] % len(FAILURES)]("the tool is broken")


class Hanging(Tool):
    """Prints a little, and then never ends."""

    schema = ToolSchema("hang", "Hangs.", {"type": "object", "properties": {}})
    kind: ToolKind = "command"

    def review(self, arguments: str, context: ToolContext) -> Review:
        return Review("read", "hang")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        context.on_output("Linking ...\n")
        await asyncio.Event().wait()
        raise AssertionError("nobody ends it")
