"""Tools of the scripted agent beside the real ones: one prints, one breaks."""

import json

from pinfold.ports import Review, ToolContext, ToolOutcome
from pinfold.rollout.events import ToolSchema


class Dump:
    """Prints as many lines as it is asked for, with no cap of its own."""

    schema = ToolSchema("dump", "Prints lines.", {"type": "object", "properties": {}})
    read_only = True

    def review(self, arguments: str, context: ToolContext) -> Review:
        return Review("read", "dump")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        asked = json.loads(arguments)
        part, lines = asked["part"], asked["lines"]
        return ToolOutcome("".join(f"{n} build/part_{part}.o is linked\n" for n in range(lines)))


class Broken:
    """Raises what no tool should raise."""

    schema = ToolSchema("broken", "Breaks.", {"type": "object", "properties": {}})
    read_only = False

    def review(self, arguments: str, context: ToolContext) -> Review:
        return Review("read", "broken")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        raise RuntimeError("the tool is broken")
