"""The gauge is right whatever the order of events, and says where its figure comes from."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from pinfold.ports import ModelInfo
from pinfold.rollout.events import (
    Context,
    ContextSet,
    Data,
    Event,
    ItemAdded,
    ModelChanged,
    RequestFinished,
    Usage,
)
from pinfold.rollout.items import Item, Kind
from pinfold.tokens.counter import Counter
from pinfold.window.gauge import Gauge
from pinfold.window.window import Window

MODEL = ModelInfo("m", "p", 8_192, "config")
KINDS: tuple[Kind, ...] = ("user", "assistant", "reasoning", "tool_call", "tool_result", "context")


def event(seq: int, data: Data) -> Event:
    return Event(seq, datetime(2026, 1, 1, tzinfo=UTC), data)


def finished(usage: Usage | None) -> RequestFinished:
    return RequestFinished(
        purpose="turn",
        provider="p",
        model="m",
        response=1,
        through_seq=1,
        estimate=1,
        status="ok",
        usage=usage,
    )


def item(kind: Kind, content: str, n: int = 1) -> ItemAdded:
    return ItemAdded(item=Item(n=n, kind=kind, content=content, call_id=f"c{n}"))


def fed(*data: Data) -> Gauge:
    gauge = Gauge(Counter("none"), "chat")
    for seq, each in enumerate(data, 1):
        gauge.step(event(seq, each))
    return gauge


def test_a_report_for_this_very_window_is_measured() -> None:
    usage = Usage(input=500, output=20)
    reading = fed(item("user", "hi"), item("assistant", "yes"), finished(usage)).reading(MODEL)
    assert (reading.used, reading.source) == (520, "measured")


def test_what_came_after_the_report_is_added_and_called_estimated() -> None:
    usage = Usage(input=500, output=20)
    gauge = fed(finished(usage), item("user", "a new prompt"))
    reading = gauge.reading(MODEL)
    assert reading.source == "estimated"
    assert reading.used > 520


def test_without_reports_the_estimate_stands() -> None:
    gauge = fed(item("user", "hi"), finished(None))
    assert gauge.reading(MODEL).used == gauge.estimate
    assert gauge.reading(MODEL).source == "estimated"


def test_another_model_or_context_voids_the_report() -> None:
    usage = Usage(input=500_000, output=20)
    for data in (
        ModelChanged(provider="p", model="x", context_window=1, window_source="table"),
        ContextSet(hash="h", context=Context(instructions="Be brief.")),
    ):
        gauge = fed(item("user", "hi"), finished(usage), data)
        assert gauge.reading(MODEL).used == gauge.estimate


events = st.lists(
    st.one_of(
        st.builds(item, st.sampled_from(KINDS), st.text(max_size=80), st.integers(1, 50)),
        st.builds(lambda t: ContextSet(hash="h", context=Context(instructions=t)), st.text()),
        st.builds(lambda n: finished(Usage(input=n, output=1)), st.integers(0, 9_999)),
    ),
    max_size=30,
)


@given(events)
def test_segments_add_up_and_a_recount_changes_nothing(data: list[Data]) -> None:
    gauge = fed(*data)
    reading = gauge.reading(MODEL)
    assert sum(tokens for _, tokens in reading.segments) == gauge.estimate
    gauge.recount(Counter("none"), "chat")
    assert gauge.reading(MODEL) == reading


@given(events)
def test_the_window_keeps_order_and_knows_open_calls(data: list[Data]) -> None:
    window = Window()
    for seq, each in enumerate(data, 1):
        window.step(event(seq, each))
    added = [each.item for each in data if isinstance(each, ItemAdded)]
    assert list(window.items) == added
    for call in window.open_calls:
        after = added[len(added) - added[::-1].index(call) :]
        assert not any(i.kind == "tool_result" and i.call_id == call.call_id for i in after)
