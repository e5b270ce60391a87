"""The gauge is right at once whatever happens, and says where its figure comes from."""

from fakes.histories import finished, fold
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.context import Context
from pinfold.rollout.events import (
    ContextSet,
    Data,
    ItemAdded,
    ItemsMarked,
    ModelChanged,
    PinsChanged,
    WindowCounted,
)
from pinfold.rollout.items import Item, Kind, Origin
from pinfold.rollout.values import Usage
from pinfold.tokens.prices import Price
from pinfold.window.gauge import Gauge
from pinfold.window.reading import SentRequest

MODEL = ModelInfo("m", "p", 8_192, "config", max_output=1_000)
USING = ModelChanged(provider="p", model="m", context_window=8_192, window_source="config")


def item(kind: Kind, content: str, n: int = 1) -> ItemAdded:
    return ItemAdded(item=Item(n=n, kind=kind, content=content, response=n))


def fed(*data: Data) -> Gauge:
    return fold(list(data))[1]


def test_a_report_for_this_very_window_is_measured() -> None:
    usage = Usage(input=500, output=20)
    reading = fed(
        USING, item("user", "hi"), item("assistant", "yes", 2), finished(usage, 2)
    ).reading(MODEL)
    assert (reading.used, reading.source) == (520, "measured")
    assert sum(tokens for _, tokens in reading.segments) == 520


def test_reasoning_that_is_not_sent_back_is_not_in_the_next_request() -> None:
    usage = Usage(input=500, output=120, reasoning=100)
    gauge = fed(USING, item("user", "hi"), item("assistant", "yes", 2), finished(usage, 2))
    assert gauge.reading(MODEL).used == 520


def test_what_came_after_the_report_is_added_and_called_calibrated() -> None:
    usage = Usage(input=500, output=20)
    gauge = fed(USING, finished(usage, 1, estimate=0), item("user", "a new prompt"))
    reading = gauge.reading(MODEL)
    assert reading.source == "calibrated"
    assert 500 < reading.used < 520


def test_without_reports_the_estimate_stands() -> None:
    gauge = fed(USING, item("user", "hi"), finished(None, 2))
    reading = gauge.reading(MODEL)
    assert (reading.used, reading.source) == (gauge.estimate, "estimated")


def test_a_change_of_the_window_is_counted_at_once_and_not_called_measured() -> None:
    body = item("tool_result", "line\n" * 1_000, 2)
    call = ItemAdded(item=Item(n=1, kind="tool_call", content="{}", response=2, call_id="a"))
    result = ItemAdded(
        item=Item(n=2, kind="tool_result", content=body.item.content, response=2, call_id="a")
    )
    before = [USING, call, result, finished(Usage(input=2_500, output=0), 3, estimate=0)]
    gauge = fed(*before, ItemsMarked(items=((2, "masked"),)))
    assert fed(*before).reading(MODEL).used == 2_500
    assert gauge.reading(MODEL).used < 100
    assert gauge.reading(MODEL).source == "calibrated"


def test_another_model_or_context_voids_the_report() -> None:
    usage = Usage(input=500_000, output=20)
    for data in (
        ModelChanged(provider="p", model="x", context_window=1, window_source="table"),
        ContextSet(hash="h", context=Context(instructions="Be brief.")),
    ):
        gauge = fed(item("user", "hi"), finished(usage, 1, estimate=0), data)
        assert gauge.reading(MODEL).used == gauge.estimate


def test_the_servers_own_count_is_measured() -> None:
    count = WindowCounted(provider="p", model="m", through_seq=2, estimate=400, tokens=444)
    reading = fed(USING, item("user", "hi"), count).reading(MODEL)
    assert (reading.used, reading.source) == (444, "measured")


def test_pinned_items_are_a_segment_of_their_own() -> None:
    data = [item("user", "hi"), item("assistant", "yes " * 50, 2), PinsChanged(add=(2,))]
    assert dict(fed(*data).reading(MODEL).segments)["pinned"] > 50
    assert "assistant" not in dict(fed(*data).reading(MODEL).segments)


def test_a_part_that_cannot_be_counted_makes_the_figure_unknown() -> None:
    opaque = ItemAdded(item=Item(n=1, kind="compaction", opaque={}, origin=Origin("p", "m")))
    assert fed(USING, opaque).reading(MODEL).source == "unknown"


def test_the_reserve_is_at_most_a_quarter_and_the_threshold_a_share_of_the_rest() -> None:
    reading = fed().reading(MODEL, 0.5)
    assert (reading.reserve, reading.usable, reading.threshold) == (1_000, 7_192, 3_596)
    small = ModelInfo("m", "p", 8_192, "config", max_output=16_384)
    assert fed().reading(small, None).reserve == 2_048
    assert fed().reading(small, None).threshold is None


def test_cost_and_cached_share_come_from_the_reports() -> None:
    usage = Usage(input=1_000_000, cached=750_000, output=100_000)
    gauge = fed(USING, finished(usage, 1))
    price = Price(input=4.0, output=10.0, cached=1.0)
    reading = gauge.reading(MODEL, None, {"m": price})
    assert reading.cached == 0.75
    assert reading.cost == 1.0 + 0.75 + 1.0
    assert reading.requests == (SentRequest(1_000_000, 750_000, reading.cost),)
    assert gauge.reading(MODEL).cost is None
    later = fed(USING, finished(usage, 1), *(finished(Usage(input=n), n) for n in range(2, 9)))
    assert later.reading(MODEL).requests == tuple(SentRequest(n, 0) for n in range(4, 9))


def test_a_later_tokenizer_counts_everything_anew() -> None:
    from pinfold.tokens.counter import Counter

    gauge = fed(USING, item("user", "tokenization"))
    exact = Counter("o200k_base")
    exact.load()
    gauge.recount(exact, "chat")
    assert gauge.tokens == [2 + 4]
