"""Changes to files: worked out first, then made all together or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pinfold.ports.tool import Observation, ToolContext, ToolError, ToolOutcome
from pinfold.tools import workspace
from pinfold.tools.diffs import Diff


@dataclass(frozen=True, slots=True)
class FileEdit:
    """What is to become of one file."""

    path: Path
    before: str | None
    """Hash of the bytes that are there now; None where no file is."""
    after: bytes | None
    """None removes the file."""
    diff: Diff
    mode: int | None = None
    """Permission bits of the file; None leaves them to the system."""

    @property
    def op(self) -> Literal["create", "update", "delete"]:
        if self.after is None:
            return "delete"
        return "create" if self.before is None else "update"


@dataclass(frozen=True, slots=True)
class _Done:
    change: FileEdit
    mode: int | None
    """The bits that the file had."""


def combined(changes: Sequence[FileEdit]) -> str:
    """The diffs of all changes."""
    return "".join(change.diff.text for change in changes)


def _detail(changes: Sequence[FileEdit], context: ToolContext) -> dict[str, Any]:
    """What the screen shows of changes: `path` is the first file, `paths` are all."""
    paths = [workspace.uri(change.path, context.workspace) for change in changes]
    return {
        "path": paths[0],
        "paths": paths,
        "diff": combined(changes),
        "added": sum(change.diff.added for change in changes),
        "removed": sum(change.diff.removed for change in changes),
    }


def counts(diff: Diff) -> str:
    return f"+{diff.added} -{diff.removed}"


def apply(
    changes: Sequence[FileEdit], context: ToolContext, told: str, *, whole: bool = False
) -> ToolOutcome:
    """Make all changes, or none; the bytes before are kept in the session's folder.

    `told` is what the model reads of success, `whole` whether the call holds all of each file.
    Raises `ToolError` if a file is no longer what it was or cannot be written: every file is then
    as before. Where one could not even be put back, the outcome names and observes it.
    """
    try:
        for change in changes:
            _back_up(change, context)
    except OSError as error:
        raise ToolError(f"Nothing was changed: {error}") from error
    done: list[_Done] = []
    try:
        for change in changes:
            mode = None if change.before is None else workspace.file_mode(change.path)
            _make(change, mode)
            done.append(_Done(change, mode))
    except OSError as error:
        lost = _undo(done, context)
        if not lost:
            raise ToolError(f"Nothing was changed: {error}") from error
        names = "; ".join(_lost(change, context) for change in lost)
        return ToolOutcome(f"{names}: {error}", False, _observations(lost, context))
    detail = _detail(changes, context) | {
        "whole": whole or all(_is_new(change) for change in changes)
    }
    return ToolOutcome(told, True, _observations(changes, context), detail)


def _is_new(change: FileEdit) -> bool:
    return change.before is None and change.after is not None


def _back_up(change: FileEdit, context: ToolContext) -> None:
    there = workspace.exists(change.path)
    now = workspace.save(change.path, context.folder) if there else None
    if now != change.before:
        name = workspace.uri(change.path, context.workspace)
        raise ToolError(f"{name} was changed by something else just now; read it again.")


def _make(change: FileEdit, mode: int | None) -> None:
    if change.after is None:
        change.path.unlink()
    else:
        workspace.write(change.path, change.after, change.mode if mode is None else mode)


def _undo(done: Sequence[_Done], context: ToolContext) -> list[FileEdit]:
    """Put the files back; the changes that could not be undone."""
    lost: list[FileEdit] = []
    for one in reversed(done):
        path, before = one.change.path, one.change.before
        try:
            if before is None:
                path.unlink(missing_ok=True)
            else:
                workspace.restore(before, context.folder, path, one.mode)
        except OSError:
            lost.append(one.change)
    return lost


def _lost(change: FileEdit, context: ToolContext) -> str:
    name = workspace.uri(change.path, context.workspace)
    if change.before is None:
        return f"{name} was created and could not be removed"
    return f"{name} was changed and could not be put back (blob {change.before})"


def _observations(changes: Sequence[FileEdit], context: ToolContext) -> tuple[Observation, ...]:
    return tuple(_observation(change, context) for change in changes)


def _observation(change: FileEdit, context: ToolContext) -> Observation:
    name = workspace.uri(change.path, context.workspace)
    hashed = None if change.after is None else workspace.blob_hash(change.after)
    return Observation(name, "file", change.op, hashed, change.before)
