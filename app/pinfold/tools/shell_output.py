"""The `shell_output` tool."""

from typing import ClassVar

from pydantic import Field

from pinfold.ports.tool import Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.tools.arguments import Arguments, parse, schema


class OutputArguments(Arguments):
    also: ClassVar = {"bash_id": "job", "shell_id": "job"}

    job: int
    wait: int = Field(default=0, ge=0, le=600, description="seconds to wait for it to end")


class ShellOutput(Tool):
    schema = schema(
        "shell_output",
        "Read what a background command has printed since the last read.",
        OutputArguments,
    )
    kind: ToolKind = "read"
    read_only = True

    def review(self, arguments: str, context: ToolContext) -> Review:  # noqa: ARG002
        number = parse(OutputArguments, arguments).job
        return Review("read", f"output of background command {number}")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        given = parse(OutputArguments, arguments)
        if context.jobs is None:
            raise ToolError("Nothing runs in the background here.")
        job, text = await context.jobs.output(given.job, given.wait, context.max_output)
        text += "\n" if text and not text.endswith("\n") else ""
        output = text + job.ending
        return ToolOutcome(output, detail={"host": [[len(text), len(output)]]})
