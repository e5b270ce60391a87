"""Undoing what a span of a session did to files, from the bytes that the session keeps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pinfold.ports.tool import ToolContext, ToolError, ToolOutcome
from pinfold.rollout.blobs import Blobs
from pinfold.rollout.events import ArtifactObserved
from pinfold.tools import edits, workspace
from pinfold.tools.diffs import Diff

State = Literal["ready", "same", "changed", "impossible"]
"""Can be undone; is unchanged; was changed by something else since; can't be undone."""


@dataclass(frozen=True, slots=True)
class SpanChange:
    """What a span of a session did to one file."""

    first: ArtifactObserved
    last: ArtifactObserved

    @property
    def uri(self) -> str:
        return self.first.uri

    @property
    def before(self) -> str | None:
        """Hash of its bytes before the span; None where there was no file, or they are unknown."""
        return self.first.backup

    @property
    def after(self) -> str | None:
        """Hash of its bytes after the span; None where there is no file, or they are unknown."""
        return None if self.last.op == "delete" else self.last.hash

    @property
    def op(self) -> Literal["create", "update", "delete"]:
        """All of it as one change."""
        if self.last.op == "delete":
            return "delete"
        return "create" if self.first.op == "create" else "update"


@dataclass(frozen=True, slots=True)
class Undo:
    """A change, compared with the disk."""

    change: SpanChange
    path: Path
    state: State
    now: str | None = None
    """Hash of the bytes that are there; None where no file is."""
    why: str = ""
    """Why it is not `ready`."""


def changes(seen: Iterable[ArtifactObserved]) -> list[SpanChange]:
    """The files that the agent changed in a span, in the order of their first change.

    What was put back by an earlier undo has no item: it is no change to undo, but it is how a
    file was left.
    """
    first: dict[str, ArtifactObserved] = {}
    last: dict[str, ArtifactObserved] = {}
    for event in seen:
        if event.kind != "file" or event.op not in ("create", "update", "delete"):
            continue
        if event.item is not None:
            first.setdefault(event.uri, event)
        elif event.op == "delete" and event.backup is None:
            continue  # found gone: nobody here removed it
        last[event.uri] = event
    found = (SpanChange(event, last[uri]) for uri, event in first.items())
    # What came and went within the span has nothing to undo.
    return [change for change in found if (change.first.op, change.last.op) != ("create", "delete")]


def plan(changed: Sequence[SpanChange], root: Path, folder: Path) -> list[Undo]:
    """What can be undone below `root`; `folder` is that of the session. Reads the files."""
    real = root.resolve()
    return [_undo(change, real, folder) for change in changed]


def _undo(change: SpanChange, root: Path, folder: Path) -> Undo:
    path = root / change.uri
    if not workspace.inside(path, root) or ".." in path.parts:
        return Undo(change, path, "impossible", why="it is outside this folder")
    try:
        if path.resolve() != path:
            return Undo(change, path, "impossible", why="its path now goes through a link")
        now = None
        if workspace.exists(path):
            workspace.require_file(path, root)
            now = workspace.hash_file(path)
    except (ToolError, OSError) as error:
        return Undo(change, path, "impossible", why=str(error))
    if change.first.op != "create":
        if change.before is None:
            return Undo(change, path, "impossible", now, "its old content was not kept")
        if now == change.before:
            return Undo(change, path, "same", now, "it is unchanged")
        if not Blobs(folder).has(change.before):
            return Undo(change, path, "impossible", now, "its old content is lost")
    elif now is None:
        return Undo(change, path, "same", now, "it is gone already")
    if change.last.op != "delete" and change.after is None:
        return Undo(change, path, "impossible", now, "its last known state is missing")
    if now != change.after:
        return Undo(change, path, "changed", now, "something else changed it since")
    return Undo(change, path, "ready", now)


def undo(undos: Sequence[Undo], root: Path, folder: Path) -> ToolOutcome:
    """Put all these files back, or none; the bytes that go are kept in the session's folder.

    Raises `ToolError`: a file is no longer what `plan` saw, or can't be written.
    """
    context = ToolContext(root.resolve(), folder, "", lambda _: None)
    made = [
        edits.FileEdit(wanted.path, wanted.now, _bytes(wanted.change, folder), Diff("", 0, 0))
        for wanted in undos
    ]
    names = ", ".join(wanted.change.uri for wanted in undos)
    return edits.apply(made, context, f"Undone: {names}.")


def _bytes(change: SpanChange, folder: Path) -> bytes | None:
    if change.before is None:
        return None
    data = Blobs(folder).read(change.before)
    if data is None:
        raise ToolError(f"Nothing was changed: the saved content of {change.uri} is damaged.")
    return data
