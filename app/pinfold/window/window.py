"""The window: the ordered items that the next request carries, folded from events."""

from pinfold.rollout.events import Event, ItemAdded
from pinfold.rollout.items import Item


class Window:
    """A projection: `step` mutates it, readers take `items`."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._open: dict[str, Item] = {}

    def step(self, event: Event) -> None:
        if isinstance(event.data, ItemAdded):
            item = event.data.item
            self._items.append(item)
            if item.kind == "tool_call" and item.call_id:
                self._open[item.call_id] = item
            elif item.kind == "tool_result" and item.call_id:
                self._open.pop(item.call_id, None)

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(self._items)

    @property
    def open_calls(self) -> tuple[Item, ...]:
        """Calls that no result answers yet. A request may not carry one."""
        return tuple(self._open.values())

    def __len__(self) -> int:
        return len(self._items)
