"""Changes to files: worked out first, then made all together or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinfold.ports import Observation, ToolContext, ToolError
from pinfold.tools import workspace
from pinfold.tools.diffs import Diff


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of one file."""

    path: Path
    before: str | None
    """Hash of the bytes that are there now; None where no file is."""
    after: bytes | None
    """None removes the file."""
    diff: Diff
    mode: int | None = None
    """Permission bits of the file; None leaves them to the system."""


@dataclass(frozen=True, slots=True)
class _Done:
    change: Change
    mode: int | None
    """The bits that the file had."""


def combined(changes: Sequence[Change]) -> str:
    """The diffs of all changes."""
    return "".join(change.diff.text for change in changes)


def detail(changes: Sequence[Change], context: ToolContext) -> dict[str, Any]:
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


def apply(changes: Sequence[Change], context: ToolContext) -> tuple[Observation, ...]:
    """Make all changes; the bytes before are kept in the session's folder.

    Raises `ToolError` if a file is no longer what it was or cannot be written; then every file
    is as before, or named.
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
        raise ToolError(f"{lost or 'Nothing was changed'}: {error}") from error
    return tuple(_observation(change, context) for change in changes)


def _back_up(change: Change, context: ToolContext) -> None:
    there = workspace.exists(change.path)
    now = workspace.save(change.path, context.folder) if there else None
    if now != change.before:
        name = workspace.uri(change.path, context.workspace)
        raise ToolError(f"{name} was changed by something else just now; read it again.")


def _make(change: Change, mode: int | None) -> None:
    if change.after is None:
        change.path.unlink()
    else:
        workspace.write(change.path, change.after, change.mode if mode is None else mode)


def _undo(done: Sequence[_Done], context: ToolContext) -> str:
    """Put the files back; what could not be, in words."""
    lost: list[str] = []
    for one in reversed(done):
        path, before = one.change.path, one.change.before
        try:
            if before is None:
                path.unlink()
            else:
                workspace.restore(before, context.folder, path, one.mode)
        except OSError:
            lost.append(f"{path} was changed and could not be put back (blob {before})")
    return "; ".join(lost)


def _observation(change: Change, context: ToolContext) -> Observation:
    name = workspace.uri(change.path, context.workspace)
    if change.after is None:
        return Observation(name, "file", "delete", None, change.before)
    hashed = workspace.blob_hash(change.after)
    if change.before is None:
        return Observation(name, "file", "create", hashed)
    return Observation(name, "file", "update", hashed, change.before)
