"""The items of an adopted session: by number, with the result of each call, and by content."""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from pinfold.adopt.pairs import Key, key
from pinfold.rollout.items import WRITTEN, Item, Kind


class NumberedItems:
    def __init__(self) -> None:
        self.by_number: dict[int, Item] = {}
        self._last_n = 0
        self._calls: dict[Key, int] = {}
        self._results: dict[int, int] = {}
        """The number of each call's result, by the number of the call."""

    def next_number(self) -> int:
        self._last_n += 1
        return self._last_n

    def keep(self, item: Item) -> None:
        """Add an item. A result must come after its call."""
        self.by_number[item.n] = item
        if item.kind == "tool_call":
            self._calls[key(item)] = item.n
        elif item.kind == "tool_result":
            self._results[self._calls[key(item)]] = item.n

    def result_of(self, call: int) -> Item:
        return self.by_number[self._results[call]]

    def entries(
        self, window: Sequence[int | Item], new_response: Callable[[], int]
    ) -> Iterator[Item]:
        """The entries as items. New neighbours that a model wrote form a response."""
        used: set[int] = set()
        response, answered = 0, False
        for entry in window:
            if isinstance(entry, int):
                response = 0
                if entry in self.by_number and entry not in used:
                    used.add(entry)
                    yield self.by_number[entry]
            elif entry.kind == "tool_result":
                answered = True
                yield replace(entry, n=0)
            elif entry.kind in WRITTEN and not entry.response:
                if answered or not response:
                    response, answered = new_response(), False
                yield replace(entry, n=0, response=response)
            else:
                response = 0
                yield replace(entry, n=0)


class Matches:
    """Items as in the foreign file; each is found once until `clear`."""

    def __init__(self) -> None:
        self._items: dict[tuple[Kind, str, str | None], list[tuple[int, str | None]]] = {}
        """Numbers and names, by kind, content and call id."""
        self._found: set[int] = set()

    def add(self, item: Item) -> None:
        same = (item.kind, item.content, item.call_id)
        self._items.setdefault(same, []).append((item.n, item.name))

    def find(self, kind: Kind, content: str, call_id: str | None, name: str | None) -> int | None:
        """The newest item that is the same; None for one without content and call id."""
        if not content and not call_id:
            return None
        for n, its_name in reversed(self._items.get((kind, content, call_id), ())):
            if n not in self._found and (name is None or its_name in {name, None}):
                self._found.add(n)
                return n
        return None

    def clear(self) -> None:
        self._found.clear()
