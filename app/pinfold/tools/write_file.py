"""The `write_file` tool."""

import asyncio
from typing import ClassVar

from pydantic import Field

from pinfold.ports.tool import Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.tools import edits, workspace
from pinfold.tools.arguments import Arguments, also_named, parse, schema
from pinfold.tools.diffs import Diff, unified
from pinfold.tools.text import unix


class WriteArguments(Arguments):
    also: ClassVar = {"contents": "content", "file_text": "content"}

    path: str
    content: str = Field(description="the whole file")


class WriteFile(Tool):
    schema = schema(
        "write_file",
        "Create a file, or replace all of it. Missing folders are created.",
        WriteArguments,
    )
    kind: ToolKind = "edit"
    bodies = also_named(WriteArguments, "content")
    editable = "content"

    def names(self, arguments: str) -> tuple[str, ...]:
        return (parse(WriteArguments, arguments).path,)

    def review(self, arguments: str, context: ToolContext) -> Review:
        change = _plan(parse(WriteArguments, arguments), context)
        verb = "create" if change.before is None else "write"
        title = f"{verb} {workspace.uri(change.path, context.workspace)}"
        return Review("write", title, (change.path,), diff=change.diff.text)

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        return await asyncio.to_thread(_write, parse(WriteArguments, arguments), context)


def _write(given: WriteArguments, context: ToolContext) -> ToolOutcome:
    change = _plan(given, context)
    name = workspace.uri(change.path, context.workspace)
    verb = "Created" if change.before is None else "Wrote"
    message = f"{verb} {name} ({edits.counts(change.diff)})."
    return edits.apply([change], context, message, whole=True)


def _plan(given: WriteArguments, context: ToolContext) -> edits.FileEdit:
    path = workspace.resolve(given.path, context.workspace)
    name = workspace.uri(path, context.workspace)
    if not workspace.exists(path):
        diff = unified(None, unix(given.content), name)
        return edits.FileEdit(path, None, given.content.encode(), diff)
    try:
        file = workspace.read_text(path, context.workspace)
    except workspace.NotTextFile:
        diff = Diff(f"Binary file {name} is replaced\n", 0, 0)
        return edits.FileEdit(path, workspace.hash_file(path), given.content.encode(), diff)
    try:
        # Who writes CRLF wants it; who does not leaves the file's line ends as they are.
        literal = "\r\n" in given.content
        encode = file.text.encode_as_is if literal else file.text.encode
        data = encode(given.content)
    except ValueError as error:
        raise ToolError(f"{name} was not written: {error}.") from error
    diff = unified(file.text.content, unix(given.content), name)
    return edits.FileEdit(path, file.hash, data, diff)
