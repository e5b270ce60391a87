"""Which earlier items a foreign window means."""

from pinfold.rollout.items import Item, Kind

_Same = tuple[Kind, str, str | None]
"""Kind, content, call id."""


class Matches:
    """Items as in the foreign file; each is found once until `clear`."""

    def __init__(self) -> None:
        self._items: dict[_Same, list[tuple[int, str | None]]] = {}
        """Number and name."""
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
