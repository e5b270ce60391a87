"""Whether files are still as the session last saw them."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from pinfold.rollout.acts import act, searches
from pinfold.rollout.events import ArtifactObserved, Event, ItemAdded
from pinfold.rollout.items import Item

MAX_FILES = 1_024

State = Literal["unchanged", "changed", "deleted", "unknown"]


class FileState(Struct, frozen=True):
    """What is known of a file since the item that last read or wrote it."""

    item: int
    hash: str | None
    """As the session saw it there."""
    state: State
    whole: bool = True
    """Whether the session has read or written all of it since it last changed."""


class FileStates:
    """A projection of the rollout: what the disk says enters as `artifact_observed` alone."""

    def __init__(self) -> None:
        self._states: dict[str, FileState] = {}
        """By path, the last seen last."""
        self._partial: set[int] = set()
        """Results that show parts of files at most."""

    def step(self, event: Event) -> None:
        match event.data:
            case ItemAdded(item=item) if item.kind == "tool_result" and _is_partial(item):
                self._partial.add(item.n)
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
        whole = seen.op != "read" or item not in self._partial
        if not whole and before is not None and before.whole and known == before.hash:
            item, whole = before.item, True
        state: State = "deleted" if seen.op == "delete" else _state(known, whole=whole)
        self._states[seen.uri] = FileState(item, known, state, whole)
        if len(self._states) > MAX_FILES:
            del self._states[next(iter(self._states))]

    def _look(self, seen: ArtifactObserved) -> None:
        """The disk was looked at, outside of any item."""
        if (before := self._states.get(seen.uri)) is None:
            return
        if seen.op == "delete":
            state: State = "deleted"
        elif before.hash and seen.hash == before.hash:
            state = _state(before.hash, whole=before.whole)
        else:
            state = "changed"
        self._states[seen.uri] = replace(before, state=state)


def _is_partial(result: Item) -> bool:
    done = act(None, result)
    return searches(result) or (done is not None and not done.whole)


def _state(known: str | None, *, whole: bool) -> State:
    return "unchanged" if known and whole else "unknown"
