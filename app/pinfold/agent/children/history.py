"""The items of agents, for `recall`."""

from collections.abc import Sequence
from pathlib import Path

from pinfold.agent.children.children import Children
from pinfold.ports.tool import ToolError
from pinfold.rollout.items import Item
from pinfold.rollout.journal import JournalError


class ItemHistory:
    """A `ports.History` of items of which a model sees none."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = {item.n: item for item in items}

    def item(self, n: int) -> Item | None:
        return self._items.get(n)

    def partner(self, n: int) -> int | None:
        item = self._items.get(n)
        if item is None or item.call_id is None:
            return None
        same = (item.response, item.call_id)
        for other in self._items.values():
            if other.n != n and (other.response, other.call_id) == same:
                return other.n
        return None

    def hidden(self) -> Sequence[int]:
        return list(self._items)


class Records:
    """The histories of a session's agents."""

    def __init__(self, children: Children) -> None:
        self._children = children

    @property
    def numbers(self) -> Sequence[int]:
        return [child.child for child in self._children.known]

    async def of(self, number: int) -> tuple[ItemHistory, Path]:
        """Its items and its folder. Raises `ToolError`."""
        try:
            items = await self._children.items(number)
        except JournalError as error:
            raise ToolError(str(error)) from error
        started = next(child for child in self._children.known if child.child == number)
        return ItemHistory(items), self._children.folder(started)
