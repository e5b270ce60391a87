"""The `apply_patch` tool."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, assert_never

from pydantic import Field

from pinfold.ports.tool import Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.tools import edits, patch, workspace
from pinfold.tools.arguments import Arguments, also_named, parse, schema
from pinfold.tools.diffs import Diff, unified

DESCRIPTION = """\
Change one or more files with a patch; either all of it applies or nothing is changed. Format:
*** Begin Patch
*** Add File: <path>
+<line>
*** Delete File: <path>
*** Update File: <path>
*** Move to: <new path>
@@ <line above the change, such as a def or class, where the context alone is not unique>
 <context line>
-<old line>
+<new line>
*** End of File
*** End Patch
`Move to`, `@@` and `End of File` are optional. Give three lines of context around each change."""


class PatchArguments(Arguments):
    also: ClassVar = {"input": "patch"}

    patch: str = Field(description="from *** Begin Patch to *** End Patch")


class ApplyPatch(Tool):
    schema = schema("apply_patch", DESCRIPTION, PatchArguments)
    kind: ToolKind = "edit"
    bodies = also_named(PatchArguments, "patch")
    editable = "patch"

    def names(self, arguments: str) -> tuple[str, ...]:
        return patch.named(parse(PatchArguments, arguments).patch)

    def review(self, arguments: str, context: ToolContext) -> Review:
        changes = _plan(parse(PatchArguments, arguments), context)
        paths = tuple(change.path for change in changes)
        first = workspace.uri(paths[0], context.workspace)
        others = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        return Review("write", f"patch {first}{others}", paths, diff=edits.combined(changes))

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        return await asyncio.to_thread(_apply, parse(PatchArguments, arguments), context)


def _apply(given: PatchArguments, context: ToolContext) -> ToolOutcome:
    changes = _plan(given, context)
    lines = [
        f"{change.op} {workspace.uri(change.path, context.workspace)} ({edits.counts(change.diff)})"
        for change in changes
    ]
    return edits.apply(changes, context, "\n".join(["Applied:", *lines]))


def _plan(given: PatchArguments, context: ToolContext) -> list[edits.FileEdit]:
    """The changes of all files; raises `ToolError` unless the whole patch applies."""
    staged = _Staged(context.workspace)
    try:
        for section in patch.parse(given.patch):
            match section:
                case patch.AddFile(path, text):
                    staged.add(path, text)
                case patch.DeleteFile(path):
                    staged.delete(path)
                case patch.UpdateFile(path, move_to, hunks):
                    staged.update(path, move_to, hunks)
                case _:
                    assert_never(section)
    except patch.PatchError as error:
        raise ToolError(f"Nothing was changed: {error}.") from error
    changes = staged.changes()
    if not changes:
        raise ToolError("The patch changes nothing.")
    return changes


@dataclass(slots=True)
class _File:
    """A file as the patch leaves it so far."""

    before: workspace.TextFile | None
    hash: str | None
    """Of the bytes on disk; None where no file is."""
    text: str | None
    """Its new content; None if it is to be deleted."""
    like: workspace.TextFile | None
    """The file whose encoding, line ends and mode it has."""


class _Staged:
    """Applies sections in memory; nothing is written."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[Path, _File] = {}

    def add(self, name: str, text: str) -> None:
        file = self._file_at(name)
        if file.text is not None:
            raise patch.PatchError(f"{name} exists already; use 'Update File'")
        file.text, file.like = text, file.before

    def delete(self, name: str) -> None:
        path = workspace.resolve(name, self._root)
        try:
            file = self._file_at(name)
        except workspace.NotTextFile:
            self._files[path] = _File(None, workspace.hash_file(path), None, None)
            return
        self._require(name, file)
        file.text = None

    def update(self, name: str, move_to: str | None, hunks: tuple[patch.PatchHunk, ...]) -> None:
        file = self._file_at(name)
        text = self._require(name, file)
        try:
            new = patch.apply(text, hunks)
        except patch.PatchError as error:
            raise patch.PatchError(f"{name}: {error}") from error
        if move_to is None or self._file_at(move_to) is file:
            file.text = new
            return
        target = self._file_at(move_to)
        if target.text is not None:
            raise patch.PatchError(f"{name} cannot move: {move_to} exists already")
        target.text, target.like, file.text = new, file.like, None

    def changes(self) -> list[edits.FileEdit]:
        # What comes goes before what leaves: a moved file is never in neither place.
        ordered = sorted(self._files.items(), key=lambda item: item[1].text is None)
        found = [self._change(path, file) for path, file in ordered]
        return [change for change in found if change is not None]

    def _file_at(self, name: str) -> _File:
        path = workspace.resolve(name, self._root)
        if path not in self._files:
            if workspace.exists(path):
                read = workspace.read_text(path, self._root)
                self._files[path] = _File(read, read.hash, read.text.content, read)
            else:
                self._files[path] = _File(None, None, None, None)
        return self._files[path]

    def _require(self, name: str, file: _File) -> str:
        if file.text is None:
            if file.hash is None:
                workspace.require_file(workspace.resolve(name, self._root), self._root)
            raise patch.PatchError(f"{name} was removed by an earlier part of the patch")
        return file.text

    def _change(self, path: Path, file: _File) -> edits.FileEdit | None:
        name = workspace.uri(path, self._root)
        old = file.before.text.content if file.before else None
        if file.text is None:
            if file.hash is None:
                return None
            diff = unified(old, None, name)
            if file.before is None:
                diff = Diff(f"Binary file {name} is removed\n", 0, 0)
            return edits.FileEdit(path, file.hash, None, diff)
        data, mode = file.text.encode(), None
        if file.like:
            mode = workspace.file_mode(file.like.path)
            try:
                data = file.like.text.encode(file.text)
            except ValueError as error:
                raise ToolError(f"{name} was not patched: {error}.") from error
        return edits.FileEdit(path, file.hash, data, unified(old, file.text, name), mode)
