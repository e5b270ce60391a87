"""The `edit_file` tool."""

import asyncio
from typing import ClassVar

from pydantic import Field

from pinfold.ports.tool import Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.tools import edits, workspace
from pinfold.tools.arguments import Arguments, also_named, parse, schema
from pinfold.tools.diffs import unified
from pinfold.tools.near import nearest
from pinfold.tools.text import unix


class EditArguments(Arguments):
    also: ClassVar = {"old_str": "old_string", "new_str": "new_string"}

    path: str
    old_string: str = Field(min_length=1, description="text to replace, exactly as in the file")
    new_string: str
    replace_all: bool = Field(default=False, description="replace every occurrence")


class EditFile(Tool):
    schema = schema(
        "edit_file",
        "Replace text in a file. old_string must occur exactly once, unless replace_all is set.",
        EditArguments,
    )
    kind: ToolKind = "edit"
    bodies = also_named(EditArguments, "old_string", "new_string")
    editable = "new_string"

    def names(self, arguments: str) -> tuple[str, ...]:
        return (parse(EditArguments, arguments).path,)

    def review(self, arguments: str, context: ToolContext) -> Review:
        change, _ = _plan(parse(EditArguments, arguments), context)
        title = f"edit {workspace.uri(change.path, context.workspace)}"
        return Review("write", title, (change.path,), diff=change.diff.text)

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        return await asyncio.to_thread(_edit, parse(EditArguments, arguments), context)


def _edit(given: EditArguments, context: ToolContext) -> ToolOutcome:
    change, line = _plan(given, context)
    name = workspace.uri(change.path, context.workspace)
    message = f"Edited {name} from line {line} on ({edits.counts(change.diff)})."
    return edits.apply([change], context, message)


def _plan(given: EditArguments, context: ToolContext) -> tuple[edits.FileEdit, int]:
    """The change, and the first line that it touches."""
    path = workspace.resolve(given.path, context.workspace)
    file = workspace.read_text(path, context.workspace)
    old, new = unix(given.old_string), unix(given.new_string)
    content = file.text.content
    if old == new:
        raise ToolError("old_string and new_string are the same.")
    first = content.find(old)
    if first < 0:
        near = nearest(content.split("\n"), old.split("\n"))
        raise ToolError(f"old_string is not in {file.uri}. {near}")
    if not given.replace_all and content.find(old, first + 1) >= 0:
        raise ToolError(f"old_string is not unique in {file.uri}: {_places(content, old)}.")
    after = content.replace(old, new)
    try:
        data = file.text.encode(after)
    except ValueError as error:
        raise ToolError(f"{file.uri} was not edited: {error}.") from error
    change = edits.FileEdit(path, file.hash, data, unified(content, after, file.uri))
    return change, content.count("\n", 0, first) + 1


def _places(content: str, old: str) -> str:
    lines: list[int] = []
    at = content.find(old)
    while at >= 0:
        lines.append(content.count("\n", 0, at) + 1)
        if len(lines) > 10:
            break
        at = content.find(old, at + 1)
    named = ", ".join(map(str, lines[:10])) + (" and more" if len(lines) > 10 else "")
    return f"it starts at lines {named}. Give more of the text around it, or set replace_all"
