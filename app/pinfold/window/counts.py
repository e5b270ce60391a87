"""The window's tokens by segment, as counted here."""

from pinfold.rollout.context import Context
from pinfold.rollout.items import Item, Kind
from pinfold.settings import WireApi
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import SEALED, context_parts, context_rows, count_item, is_known
from pinfold.window.show import Shown
from pinfold.window.window import Window
from pinfold.wire.wires import wire_of

SEGMENTS: dict[Kind, str] = {
    "user": "user",
    "assistant": "assistant",
    "reasoning": "reasoning",
    "tool_call": "tool calls",
    "tool_result": "tool results",
    "checkpoint": "checkpoint",
    "summary": "checkpoint",
    "compaction": "checkpoint",
    "context": "context",
}
ORDER = (
    "instructions",
    "AGENTS.md",
    "tools",
    "servers",
    "memories",
    "hidden",
    "context",
    "pinned",
    "checkpoint",
    "user",
    "assistant",
    "reasoning",
    "tool calls",
    "tool results",
    "folded",
)
"""The segments as they are drawn. `folded` is what placeholders take; `hidden` is what reports have
beyond all that is counted: what a provider adds, or what another tool's file does not have."""


class Counts:
    """Tokens of a window and its context, as counted here; not corrected.

    Items are counted on demand, each once: most of a long rollout is out of the window.
    """

    def __init__(self, window: Window, counter: Counter, wire_api: WireApi) -> None:
        self.counter = counter
        self._window = window
        self._wire_api: WireApi = wire_api
        self._context = Context()
        self._foreseen: tuple[Context, dict[str, int]] | None = None
        """The context of the first request, and its tokens by part. Not in the rollout, so not in a
        dump either."""
        self._model: tuple[str, str] = ("", "")
        self._turn = 0
        self._parts = context_parts(counter, self._context, wire_api)
        self._segments: dict[str, int] = {}
        self._tokens: list[int] = []
        """Of each shown item."""
        self._counts: dict[int, int] = {}
        """Of items in full, by number."""
        self._unknown = 0
        """Shown items that can't be counted."""
        self._revision: int | None = None
        """The window's revision that was counted; None if it must be counted again."""

    def foresee(self, context: Context) -> None:
        """Show `context` until there is one in the rollout."""
        if self._context == Context():
            self._foreseen = context, context_parts(self.counter, context, self._wire_api)

    def recount(self, counter: Counter, wire_api: WireApi) -> None:
        """Count everything again: the tokenizer is loaded, or the model changed."""
        self.counter, self._wire_api = counter, wire_api
        self._parts = context_parts(counter, self._context, wire_api)
        if self._foreseen is not None:
            self.foresee(self._foreseen[0])
        self._counts.clear()
        self._revision = None

    def catch_up(self) -> None:
        """Count what the window shows and was not counted yet."""
        if self._revision != self._window.revision:
            self._revision = self._window.revision
            self._segments, self._tokens, self._unknown = {}, [], 0
        shown = self._window.shown
        for entry in shown[len(self._tokens) :]:
            tokens = self.count(entry)
            self._tokens.append(tokens)
            self._unknown += not is_known(entry.item) and self._goes_back(entry.item)
            name = self._segment(entry)
            self._segments[name] = self._segments.get(name, 0) + tokens

    def count(self, shown: Shown) -> int:
        """Tokens of an item as a request carries it; not corrected."""
        if shown.form == "full":
            return self.count_full(shown.item)
        return count_item(self.counter, shown.item, self._wire_api)

    def _goes_back(self, item: Item) -> bool:
        """Whether an item that only its model can read is sent back to it."""
        origin = item.origin
        if origin is None or (origin.provider, origin.model) != self._model:
            return False
        # OpenAI's server leaves out the reasoning of earlier turns.
        past = wire_of(self._wire_api).overhead.past_reasoning
        return past or item.kind != "reasoning" or item.turn == self._turn

    def _segment(self, shown: Shown) -> str:
        if shown.form == "placeholder":
            return "folded"
        if self._window.is_pinned(shown.item.n):
            return "pinned"
        return SEGMENTS[shown.item.kind]

    @property
    def context(self) -> Context:
        """The context before the window in the next request."""
        return self._context if self._foreseen is None else self._foreseen[0]

    @property
    def context_parts(self) -> dict[str, int]:
        """Tokens of that, by part."""
        return dict(self._parts if self._foreseen is None else self._foreseen[1])

    @property
    def tokens(self) -> list[int]:
        """Tokens of each of the window's shown items; not corrected."""
        self.catch_up()
        return self._tokens

    @property
    def estimate(self) -> int:
        """Input tokens of the next request, as counted here; not corrected."""
        self.catch_up()
        return sum(self.context_parts.values()) + sum(self._segments.values())

    def count_context(self, context: Context) -> int:
        """Tokens of a context."""
        return sum(context_parts(self.counter, context, self._wire_api).values())

    def context_rows(self) -> list[tuple[str, str, int]]:
        """Each piece of what is before the window: part, name, tokens."""
        return context_rows(self.counter, self.context, self._wire_api)

    def count_full(self, item: Item) -> int:
        """Tokens of an item in full; not corrected."""
        if item.kind in SEALED and not self._goes_back(item):
            return 0
        if item.n not in self._counts:
            self._counts[item.n] = count_item(
                self.counter, item, self._wire_api, model=self._model[1]
            )
        return self._counts[item.n]

    def count_new(self, item: Item) -> int:
        """Tokens of an item that has no number yet, or a changed body; not corrected."""
        return count_item(self.counter, item, self._wire_api, model=self._model[1])

    def estimate_through(self, shown: int) -> int:
        """The same for a request that carried the first `shown` items."""
        return sum(self.context_parts.values()) + sum(self.tokens[:shown])
