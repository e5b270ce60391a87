"""What evidence may point to: the user's messages and the results of tool calls."""

from collections.abc import Sequence

from pinfold.rollout.acts import kind_of, plan
from pinfold.rollout.items import Item
from pinfold.rollout.provenance import typed


class Anchors:
    """A projection of the items: numbers and ids only."""

    def __init__(self) -> None:
        self.users: set[int] = set()
        self.last_user: int | None = None
        self.last_result: str | None = None
        self._calls: dict[int, str] = {}
        """The call id of each result, by the result's number."""
        self._results: dict[str, int] = {}
        self._files: dict[str, list[str]] = {}
        self._about: dict[str, list[int]] = {}

    def add(self, item: Item) -> None:
        if item.kind == "user":
            self.users.add(item.n)
            self.last_user = item.n
        elif typed(item):
            self.users.add(item.n)
        if item.kind == "tool_result" and item.call_id and _is_evidence(item):
            self._calls[item.n] = self.last_result = item.call_id
            self._results[item.call_id] = item.n

    def has_result(self, n: int) -> bool:
        """Whether the item `n` is a result that evidence may point to."""
        return n in self._calls

    def saw(self, n: int, uri: str) -> None:
        """The result `n` is about the file `uri`."""
        call_id = self._calls.get(n)
        if call_id is not None:
            self._files.setdefault(call_id, []).append(uri)
            self._about.setdefault(uri, []).append(n)

    def call(self, ref: str) -> str | None:
        """The call that `ref` names: by its id, by its result's `#n`, or as `latest`."""
        if ref == "latest":
            return self.last_result
        name = ref.removeprefix("call:")
        return name if name in self._results else self._calls.get(number(ref))

    def user(self, ref: str) -> int | None:
        """The user's message that `ref` names: by its `#n`, or as `latest`."""
        if ref == "latest":
            return self.last_user
        n = number(ref)
        return n if n in self.users else None

    def result(self, call_id: str) -> int:
        """The result of that call. Raises `KeyError` where there is none."""
        return self._results[call_id]

    def about(self, uri: str) -> Sequence[int]:
        """The results that read or changed the file, oldest first."""
        return self._about.get(uri, ())

    def files(self, call_id: str) -> Sequence[str]:
        """The files that the call's result is about."""
        return self._files.get(call_id, ())


def _is_evidence(item: Item) -> bool:
    """What the model itself put on record is none."""
    return kind_of(item) != "memory" and plan(item) is None


def number(ref: str) -> int:
    """The `12` of `#12`; 0, which no item has, where `ref` is no number."""
    digits = ref.removeprefix("#")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else 0
