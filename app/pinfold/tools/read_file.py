"""The `read_file` tool."""

import asyncio
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from pinfold.ports.tool import Observation, Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.tools import workspace
from pinfold.tools.arguments import Arguments, parse, schema
from pinfold.tools.snippets import numbered

MAX_LINES = 2_000


class ReadArguments(Arguments):
    path: str
    offset: int = Field(default=1, ge=1, description="first line to read")
    limit: int = Field(default=MAX_LINES, ge=1, description="number of lines")


class ReadFile(Tool):
    schema = schema(
        "read_file",
        "Read a text file. Each line comes as its number, a tab and the text.",
        ReadArguments,
    )
    kind: ToolKind = "read"
    read_only = True
    parallel = True
    quiet = True
    pages = True

    def review(self, arguments: str, context: ToolContext) -> Review:
        path = workspace.resolve(parse(ReadArguments, arguments).path, context.workspace)
        return Review("read", f"read {workspace.uri(path, context.workspace)}", (path,))

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        return await asyncio.to_thread(_read, parse(ReadArguments, arguments), context)


def _read(given: ReadArguments, context: ToolContext) -> ToolOutcome:
    path = workspace.resolve(given.path, context.workspace)
    file = workspace.read_text(path, context.workspace)
    lines = file.text.content.split("\n")
    ended = lines[-1] == ""
    if ended:
        lines.pop()
    total, first = len(lines), given.offset - 1
    if first and first >= total:
        raise ToolError(f"{file.uri} has {total} lines; there is no line {given.offset}.")
    shown = _numbered(lines, first, min(given.limit, MAX_LINES), context.max_page)
    last = first + len(shown)
    notes = [f"lines {first + 1}-{last} of {total}"] if len(shown) < total else []
    if last < total:
        notes.append(f"read on with offset {last + 1}")
    notes += file.text.marks
    if not ended and last == total and total:
        notes.append("no newline at the end")
    if not total:
        notes.append("the file is empty")
    output = "\n".join([*shown, f"[{'; '.join(notes)}]"] if notes else shown)
    seen = Observation(file.uri, "file", "read", file.hash)
    return ToolOutcome(output, True, (seen,), _detail(file.uri, first, len(shown), total))


def _detail(uri: str, first: int, shown: int, total: int) -> dict[str, Any]:
    span = [first + 1, first + shown]
    return {"path": uri, "lines": shown, "span": span, "whole": shown == total}


def _numbered(lines: Sequence[str], first: int, limit: int, size_limit: int) -> list[str]:
    """Lines from `first` on, as far as they fit; at least one."""
    shown: list[str] = []
    size = 0
    for number, line in enumerate(lines[first : first + limit], first + 1):
        text = numbered(number, line)
        size += len(text.encode()) + 1
        if shown and size > size_limit:
            break
        shown.append(text)
    return shown
