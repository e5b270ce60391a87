"""Whether files are still as the session last saw them."""

from typing import Literal

from msgspec import Struct

from pinfold.rollout.events import ArtifactObserved, Event

MAX_FILES = 1_024

State = Literal["unchanged", "changed", "deleted", "unknown"]


class FileState(Struct, frozen=True):
    """What is known of a file since the item that last read or wrote it."""

    item: int
    hash: str | None
    """As the session saw it there."""
    state: State


class FileStates:
    """A projection of the rollout: what the disk says enters as `artifact_observed` alone."""

    def __init__(self) -> None:
        self._states: dict[str, FileState] = {}
        """By path, the last seen last."""

    def step(self, event: Event) -> None:
        match event.data:
            case ArtifactObserved(kind="file", op=op) as seen if op != "list":
                if seen.item is None:
                    self._look(seen)
                else:
                    self._touch(seen, seen.item)

    def states(self) -> dict[str, FileState]:
        return dict(self._states)

    def _touch(self, seen: ArtifactObserved, item: int) -> None:
        before = self._states.pop(seen.uri, None)
        known = seen.hash
        if known is None and seen.op == "read" and before is not None:
            known = before.hash
        state: State = "deleted" if seen.op == "delete" else "unchanged" if known else "unknown"
        self._states[seen.uri] = FileState(item, known, state)
        if len(self._states) > MAX_FILES:
            del self._states[next(iter(self._states))]

    def _look(self, seen: ArtifactObserved) -> None:
        """The disk was looked at, outside of any item."""
        if (before := self._states.get(seen.uri)) is None:
            return
        if seen.op == "delete":
            state: State = "deleted"
        else:
            state = "unchanged" if before.hash and seen.hash == before.hash else "changed"
        self._states[seen.uri] = FileState(before.item, before.hash, state)
