"""The gauge: the window's tokens by segment, and where the figure comes from."""

from collections.abc import Iterable

from pinfold.ports import ModelInfo
from pinfold.rollout.events import (
    Context,
    ContextSet,
    Event,
    ItemAdded,
    ModelChanged,
    RequestFinished,
)
from pinfold.rollout.items import Item, Kind
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import WireApi, count_context, count_item
from pinfold.window.reading import Reading

SEGMENTS: dict[Kind, str] = {
    "user": "user",
    "assistant": "assistant",
    "reasoning": "reasoning",
    "tool_call": "tool calls",
    "tool_result": "tool results",
    "checkpoint": "checkpoint",
    "summary": "checkpoint",
    "compaction": "checkpoint",
    "context": "user",
}


class Gauge:
    """A projection of the rollout; each item is counted once."""

    def __init__(self, counter: Counter, wire_api: WireApi) -> None:
        self.counter = counter
        self._wire_api: WireApi = wire_api
        self._context: Context | None = None
        self._context_tokens = 0
        self._items: list[Item] = []
        self._segments: dict[str, int] = {}
        self._measured: int | None = None
        self._since = 0
        """Tokens of the items that came after the report."""
        self._reported = 0
        """How many items the report covers."""

    def step(self, event: Event) -> None:
        match event.data:
            case ContextSet(context=context):
                self._context = context
                self._context_tokens = count_context(self.counter, context, self._wire_api)
                self._measured = None
            case ItemAdded(item=item):
                self._add(item)
            case RequestFinished(purpose="turn", usage=usage) if usage is not None:
                # The reply's own items stand in the window by now and are in `output`.
                self._measured = usage.input + usage.output
                self._since, self._reported = 0, len(self._items)
            case ModelChanged():
                self._measured = None

    def count_ahead(self, events: Iterable[Event]) -> None:
        """Count in a thread what `step` will need on the event loop; the counter remembers it."""
        for event in events:
            match event.data:
                case ItemAdded(item=item):
                    count_item(self.counter, item, self._wire_api)
                case ContextSet(context=context):
                    count_context(self.counter, context, self._wire_api)

    def _add(self, item: Item) -> None:
        self._items.append(item)
        tokens = count_item(self.counter, item, self._wire_api)
        name = SEGMENTS[item.kind]
        self._segments[name] = self._segments.get(name, 0) + tokens
        self._since += tokens

    def recount(self, counter: Counter, wire_api: WireApi) -> None:
        """Count everything again: the tokenizer has come, or the model changed."""
        items, reported = self._items, self._reported
        self.counter, self._wire_api = counter, wire_api
        self._items, self._segments = [], {}
        for item in items[:reported]:
            self._add(item)
        self._since = 0
        for item in items[reported:]:
            self._add(item)
        if self._context is not None:
            self._context_tokens = count_context(counter, self._context, wire_api)

    @property
    def estimate(self) -> int:
        """Input tokens of the next request, as counted here."""
        return self._context_tokens + sum(self._segments.values())

    def reading(self, model: ModelInfo) -> Reading:
        measured = self._measured
        used = self.estimate if measured is None else measured + self._since
        exact = measured is not None and not self._since
        return Reading(
            used=used,
            source="measured" if exact else "estimated",
            limit=model.context_window,
            segments=(("instructions", self._context_tokens), *self._segments.items()),
        )
