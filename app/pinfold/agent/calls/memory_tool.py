"""`memory_apply`: the model proposes a fact, a decision or the plan; the host judges it."""

from pinfold.agent.record import Record
from pinfold.checkpoint.proposals import judge, reply
from pinfold.checkpoint.schema import SCHEMA
from pinfold.ports.tool import Review, Tool, ToolContext, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.rollout.events import MemoryApplied


class MemoryApply(Tool):
    """It touches nothing but the session's own record."""

    schema = SCHEMA
    kind: ToolKind = "memory"
    read_only = True

    def __init__(self, record: Record) -> None:
        self._record = record

    def review(self, arguments: str, context: ToolContext) -> Review:  # noqa: ARG002
        return Review("read", "remember")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:  # noqa: ARG002
        read = self._record.window.archive.get
        judged = await self._record.learn(lambda known: judge(arguments, known.state, read))
        accepted = isinstance(judged, MemoryApplied)
        return ToolOutcome(reply(judged), ok=accepted, events=(judged,))
