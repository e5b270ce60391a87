"""The `shell_kill` tool."""

from typing import ClassVar

from pinfold.ports.tool import Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.tools.arguments import Arguments, parse, schema


class KillArguments(Arguments):
    also: ClassVar = {"bash_id": "job", "shell_id": "job"}

    job: int


class ShellKill(Tool):
    schema = schema("shell_kill", "Kill a background command and all its processes.", KillArguments)
    kind: ToolKind = "command"
    read_only = True

    def review(self, arguments: str, context: ToolContext) -> Review:  # noqa: ARG002
        return Review("read", f"end background command {parse(KillArguments, arguments).job}")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        if context.jobs is None:
            raise ToolError("Nothing runs in the background here.")
        job = await context.jobs.kill(parse(KillArguments, arguments).job)
        return ToolOutcome(job.ending, detail={"host": [[0, len(job.ending)]]})
