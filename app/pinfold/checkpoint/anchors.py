"""The items that evidence points to, by number."""

from collections.abc import Sequence

from pinfold.rollout.acts import kind_of, plan
from pinfold.rollout.events import ArtifactObserved
from pinfold.rollout.items import Item
from pinfold.rollout.memory import Evidence
from pinfold.rollout.provenance import typed


class Anchors:
    """A projection of the items: numbers and ids only."""

    def __init__(self) -> None:
        self.users: set[int] = set()
        self.last_user: int | None = None
        self.last_result: str | None = None
        self._artifacts: dict[str, int] = {}
        """The last item about each artifact."""
        self._calls: dict[int, str] = {}
        """The call id of each result that may be cited, by the result's number."""
        self._files: dict[str, list[str]] = {}
        self._about: dict[str, list[int]] = {}

    def add(self, item: Item) -> None:
        if item.kind == "user":
            self.last_user = item.n
        if item.kind == "user" or typed(item):
            self.users.add(item.n)
        if item.kind == "tool_result" and item.call_id:
            self._artifacts[f"call:{item.call_id}"] = item.n
            if kind_of(item) != "memory" and plan(item) is None:  # what the model itself records
                self._calls[item.n] = self.last_result = item.call_id

    def observe(self, seen: ArtifactObserved) -> None:
        if seen.item is None:
            return
        self._artifacts[seen.uri] = seen.item
        call_id = self._calls.get(seen.item)
        if seen.kind == "file" and seen.op != "list" and call_id is not None:
            self._files.setdefault(call_id, []).append(seen.uri)
            self._about.setdefault(seen.uri, []).append(seen.item)

    def has_result(self, n: int) -> bool:
        """Whether item `n` is a result that evidence may cite."""
        return n in self._calls

    def call(self, ref: str) -> str | None:
        """The call that `ref` names: by its id, by its result's `#n`, or as `latest`."""
        if ref == "latest":
            return self.last_result
        n = self._artifacts.get(f"call:{ref.removeprefix('call:')}") or number(ref)
        return self._calls.get(n)

    def user(self, ref: str) -> int | None:
        """The user's message that `ref` names: by its `#n`, or as `latest`."""
        if ref == "latest":
            return self.last_user
        n = number(ref)
        return n if n in self.users else None

    def about(self, uri: str) -> Sequence[int]:
        """The results that read or changed the file, oldest first."""
        return self._about.get(uri, ())

    def files(self, call_id: str) -> Sequence[str]:
        """The files that the call's result is about."""
        return self._files.get(call_id, ())

    def of_artifact(self, uri: str) -> int | None:
        """The last item that read, changed or produced it."""
        return self._artifacts.get(uri)

    def of_evidence(self, evidence: Evidence) -> int | None:
        """The item that it points to; None where it names no item."""
        match evidence.source:
            case "user":
                return number(evidence.ref) or None
            case "file":
                return self.of_artifact(evidence.ref)
            case "tool_output":
                return self.of_artifact(f"call:{evidence.ref}")


def number(ref: str) -> int:
    """The `12` of `#12`; 0, which no item has, where `ref` is no number."""
    digits = ref.removeprefix("#")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else 0
