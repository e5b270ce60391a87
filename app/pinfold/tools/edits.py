"""Changes to files: worked out first, then made all together or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pinfold.ports.tool import Observation, ToolContext, ToolError, ToolOutcome
from pinfold.tools import workspace
from pinfold.tools.diffs import Diff


@dataclass(frozen=True, slots=True)
class FileEdit:
    """The change of one file."""

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


def combined(changes: Sequence[FileEdit]) -> str:
    """The diffs of all changes."""
    return "".join(change.diff.text for change in changes)


def counts(diff: Diff) -> str:
    return f"+{diff.added} -{diff.removed}"


def apply(
    changes: Sequence[FileEdit], context: ToolContext, success: str, *, whole: bool = False
) -> ToolOutcome:
    """Make all changes, or none; the bytes before are kept in the session's folder.

    `success` is the output if all is made; `whole` says that the call has all of each file.
    Raises `ToolError` if a file is no longer what it was or cannot be written: every file is then
    as before. Where one could not even be put back, the outcome names and observes it.
    """
    try:
        for change in changes:
            _back_up(change, context)
    except OSError as error:
        raise ToolError(f"Nothing was changed: {error}") from error
    done: list[tuple[FileEdit, int | None]] = []
    try:
        for change in changes:
            mode = None if change.before is None else workspace.file_mode(change.path)
            _make(change, mode)
            done.append((change, mode))
    except OSError as error:
        lost = _undo(done, context)
        if not lost:
            raise ToolError(f"Nothing was changed: {error}") from error
        names = "; ".join(_lost(change, context) for change in lost)
        return ToolOutcome(f"{names}: {error}", False, _observations(lost, context))
    seen = _observations(changes, context)
    detail = {
        "path": seen[0].uri,
        "paths": [observation.uri for observation in seen],
        "diff": combined(changes),
        "added": sum(change.diff.added for change in changes),
        "removed": sum(change.diff.removed for change in changes),
        "whole": whole or all(change.op == "create" for change in changes),
    }
    return ToolOutcome(success, True, seen, detail)


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


def _undo(done: Sequence[tuple[FileEdit, int | None]], context: ToolContext) -> list[FileEdit]:
    """Put the files back, with the mode that each had; the changes that could not be undone."""
    lost: list[FileEdit] = []
    for change, mode in reversed(done):
        try:
            if change.before is None:
                change.path.unlink(missing_ok=True)
            else:
                workspace.restore(change.before, context.folder, change.path, mode)
        except OSError:
            lost.append(change)
    return lost


def _lost(change: FileEdit, context: ToolContext) -> str:
    name = workspace.uri(change.path, context.workspace)
    if change.before is None:
        return f"{name} was created and could not be removed"
    return f"{name} was changed and could not be put back (blob {change.before})"


def _observations(changes: Sequence[FileEdit], context: ToolContext) -> tuple[Observation, ...]:
    return tuple(
        Observation(
            workspace.uri(change.path, context.workspace),
            "file",
            change.op,
            None if change.after is None else workspace.blob_hash(change.after),
            change.before,
        )
        for change in changes
    )
