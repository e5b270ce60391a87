"""`memory_apply`: the model proposes a fact, a decision or the plan; the host judges it."""

import asyncio

from pinfold.agent.memory import Memory
from pinfold.checkpoint.proposals import judge, reply
from pinfold.checkpoint.schema import SCHEMA
from pinfold.ports import Review, Tool, ToolContext, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.rollout.events import MemoryApplied
from pinfold.window.window import Window


class MemoryApply(Tool):
    """It touches nothing but the session's own record."""

    schema = SCHEMA
    kind: ToolKind = "memory"
    read_only = True

    def __init__(self, memory: Memory, window: Window) -> None:
        self._memory = memory
        self._window = window

    def review(self, arguments: str, context: ToolContext) -> Review:  # noqa: ARG002
        return Review("read", "remember")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:  # noqa: ARG002
        await self._memory.now()
        state, read = self._memory.known.state, self._window.archive.get
        judged = await asyncio.to_thread(judge, arguments, state, read)
        accepted = isinstance(judged, MemoryApplied)
        return ToolOutcome(reply(judged), ok=accepted, events=(judged,))
