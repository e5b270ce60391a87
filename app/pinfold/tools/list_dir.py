"""The `list_dir` tool."""

import asyncio

from pydantic import Field

from pinfold.ports.tool import Observation, Review, Tool, ToolContext, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.tools import workspace
from pinfold.tools.arguments import Arguments, parse, schema

MAX_SHOWN = 500


class ListArguments(Arguments):
    path: str = Field(default=".", description="folder")


class ListDir(Tool):
    schema = schema("list_dir", "List a folder: sub-folders first, then files.", ListArguments)
    kind: ToolKind = "read"
    read_only = True
    parallel = True
    quiet = True

    def review(self, arguments: str, context: ToolContext) -> Review:
        base = workspace.resolve(parse(ListArguments, arguments).path, context.workspace)
        return Review("read", f"list {workspace.uri(base, context.workspace)}", (base,))

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        base = workspace.resolve(parse(ListArguments, arguments).path, context.workspace)
        entries = await asyncio.to_thread(workspace.entries, base, context.workspace)
        lines = entries[:MAX_SHOWN]
        if len(entries) > MAX_SHOWN:
            lines.append(f"[{len(entries) - MAX_SHOWN} more; use glob]")
        name = workspace.uri(base, context.workspace)
        output = "\n".join(lines) or "The folder is empty."
        return ToolOutcome(
            output, True, (Observation(name, "file", "list"),), {"path": name, "lines": len(lines)}
        )
