"""The gauge: the window's tokens by segment, and where the figure comes from."""

from collections.abc import Iterable, Mapping
from itertools import takewhile

from msgspec import Struct

from pinfold.ports.provider import ModelInfo
from pinfold.rollout.context import Context
from pinfold.rollout.events import (
    ChildFinished,
    ContextSet,
    Event,
    ItemAdded,
    ItemsMarked,
    ModelChanged,
    PinsChanged,
    RequestFinished,
    TurnStarted,
    WindowCounted,
    WindowReplaced,
)
from pinfold.rollout.items import WRITTEN, Item
from pinfold.rollout.values import Usage
from pinfold.settings import WireApi
from pinfold.tokens.calibration import Calibration
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import (
    context_parts,
    count_item,
)
from pinfold.tokens.prices import Price, Spend, cost, price_of
from pinfold.window.counts import ORDER, Counts
from pinfold.window.reading import GaugeReading, SentRequest, Source, reserve, scaled
from pinfold.window.window import Window

RECENT = 5
"""Requests that are remembered one by one."""
HIDDEN = 0.05
"""Of the window that reports must exceed the count by before the rest is called hidden."""


class GaugeDump(Struct, frozen=True, array_like=True):
    """A gauge as plain data."""

    encoding: str
    loaded: bool
    """Whether the counts are exact."""
    wire_api: WireApi
    parts: dict[str, int]
    segments: dict[str, int]
    tokens: list[int]
    counts: dict[int, int]
    unknown: int
    calibration: Calibration
    spend: Spend
    model: tuple[str, str]
    usage: Usage | None
    recent: list[tuple[str, str, Usage]]
    measured: int | None
    turn: int
    void_seq: int


class Gauge(Counts):
    """A projection of the rollout beside `window`, which steps first."""

    def __init__(self, window: Window, counter: Counter, wire_api: WireApi) -> None:
        super().__init__(window, counter, wire_api)
        self.calibration = Calibration()
        self.spend = Spend()
        self._usage: Usage | None = None
        """The last report."""
        self._recent: list[tuple[str, str, Usage]] = []
        """Provider, model and report of the last requests of turns."""
        self._measured: int | None = None
        """Tokens as reported, while nothing has changed since."""
        self._void_seq = 0
        """The last event that made earlier measures invalid."""

    def step(self, event: Event) -> None:
        match event.data:
            case ContextSet(context=context):
                self._context, self._foreseen = context, None
                self._parts = context_parts(self.counter, context, self._wire_api)
                self._void_measures(event)
            case ModelChanged(provider=provider, model=model) if (provider, model) != self._model:
                self._model = (provider, model)
                self._counts.clear()
                self._revision = None
                self._usage = None
                self._void_measures(event)
            case WindowReplaced():
                self._usage = None
                self._void_measures(event)
            case RequestFinished(usage=usage) as request if usage is not None:
                self._hear(request, usage)
            case ChildFinished(models=models):
                self.spend.take(models)
            case WindowCounted() as count:
                self._measure(count, count.estimate or self.estimate, count.tokens, 0)
            case ItemAdded() | ItemsMarked():
                self._measured = None
            case PinsChanged(items=items) if items:
                self._measured = None
            case TurnStarted(turn=turn):
                self._turn = turn
                self._revision = None  # reasoning of earlier turns may count no more

    def _void_measures(self, event: Event) -> None:
        self._void_seq = event.seq
        self._measured = None

    def _hear(self, request: RequestFinished, usage: Usage) -> None:
        self.spend.add(request.provider, request.model, usage)
        if request.purpose != "turn":
            return
        self._usage = usage
        self._recent = [*self._recent[1 - RECENT :], (request.provider, request.model, usage)]
        # The reply's items are in the window by now, perhaps with later results.
        shown = self._window.shown
        came = list(takewhile(lambda entry: _answers(entry.item, request), reversed(shown)))
        kinds = {entry.item.kind for entry in came}
        estimate = request.estimate or self.estimate_through(len(shown) - len(came))
        output = usage.output if "reasoning" in kinds else usage.output - usage.reasoning
        self._measure(request, estimate, usage.input, output)
        if "tool_result" in kinds:
            self._measured = None

    def _measure(
        self, report: RequestFinished | WindowCounted, estimate: int, tokens: int, output: int
    ) -> None:
        """Take the report that a request had `tokens`; `output` tokens of its reply stay in the
        window."""
        if report.through_seq < max(self._void_seq, self._window.changed_seq):
            return  # the window has changed since
        if self.calibration.learn(report.provider, report.model, estimate, tokens):
            self._measured = tokens + output

    def count_ahead(self, events: Iterable[Event]) -> None:
        """Count in a thread what `step` will need on the event loop; the counter caches it."""
        for event in events:
            match event.data:
                case ItemAdded(item=item):
                    count_item(self.counter, item, self._wire_api)
                case ContextSet(context=context):
                    context_parts(self.counter, context, self._wire_api)

    def correct(self, estimate: int) -> int:
        """An estimate as this model's reports correct it."""
        return self.calibration.correct(*self._model, estimate)

    def correct_share(self, tokens: int, more: int = 0) -> int:
        """The tokens of a part of the window, corrected like the whole once it has `more`."""
        estimate = self.estimate + more
        return round(tokens * self.correct(estimate) / estimate) if estimate else tokens

    def reading(
        self,
        model: ModelInfo,
        threshold: float | None = None,
        prices: Mapping[str, Price] | None = None,
    ) -> GaugeReading:
        """The gauge; `threshold` is the share of the usable window where compaction begins."""
        self.catch_up()
        used = self._measured
        source: Source = "measured"
        if used is None:
            used = self.correct(self.estimate)
            known = self.calibration.known(*self._model)
            source = "unknown" if self._unknown else "calibrated" if known else "estimated"
        hidden = used - round(self.calibration.rate(*self._model) * self.estimate)
        if hidden <= HIDDEN * used:
            hidden = 0
        parts = {**self.context_parts, **self._segments}
        counted = {name: parts[name] for name in ORDER if parts.get(name)}
        found = dict(scaled(counted, used - hidden)) | ({"hidden": hidden} if hidden else {})
        segments = tuple((name, found[name]) for name in ORDER if name in found)
        usage = self._usage
        prices = {} if prices is None else prices
        kept = reserve(model.context_window, model.max_output)
        usable = model.context_window - kept
        return GaugeReading(
            used=used,
            source=source,
            limit=model.context_window,
            segments=segments,
            reserve=kept,
            threshold=None if threshold is None else int(threshold * usable),
            cost=self.spend.total(prices),
            cached=usage.cached / usage.input if usage and usage.input else None,
            requests=tuple(_sent(*pair, prices) for pair in self._recent),
            window_source=model.window_source,
        )

    # As plain data

    def dump(self) -> GaugeDump:
        """Shares what the gauge knows: encode it before the next step."""
        self.catch_up()
        return GaugeDump(
            encoding=self.counter.encoding,
            loaded=self.counter.loaded,
            wire_api=self._wire_api,
            parts=self._parts,
            segments=self._segments,
            tokens=self._tokens,
            counts={n: self._counts[n] for n in self._window.forms if n in self._counts},
            unknown=self._unknown,
            calibration=self.calibration,
            spend=self.spend,
            model=self._model,
            usage=self._usage,
            recent=self._recent,
            measured=self._measured,
            turn=self._turn,
            void_seq=self._void_seq,
        )

    def load(self, dump: GaugeDump, context: Context) -> None:
        """Restore a dump into a new gauge. Raises `ValueError`."""
        if len(dump.tokens) != len(self._window.shown):
            raise ValueError("these counts are of another window")
        self._context = context
        self._parts, self._segments = dump.parts, dump.segments
        self._tokens, self._counts, self._unknown = dump.tokens, dump.counts, dump.unknown
        self._revision = self._window.revision
        self.calibration, self.spend = dump.calibration, dump.spend
        self._model, self._usage, self._measured = dump.model, dump.usage, dump.measured
        self._turn, self._void_seq, self._recent = dump.turn, dump.void_seq, dump.recent
        same = (dump.encoding, dump.wire_api) == (self.counter.encoding, self._wire_api)
        # Exact counts are kept while the tokenizer loads; estimates are replaced once it is loaded.
        if not same or (self.counter.loaded and not dump.loaded):
            self.recount(self.counter, self._wire_api)


def _sent(provider: str, model: str, usage: Usage, prices: Mapping[str, Price]) -> SentRequest:
    price = price_of(provider, model, prices)
    return SentRequest(usage.input, usage.cached, None if price is None else cost(usage, price))


def _answers(item: Item, request: RequestFinished) -> bool:
    return item.kind in WRITTEN and item.response == request.response
