"""Histories: any sequence of events that a rollout may hold, for property tests."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from fakes.windows import windows
from pinfold.rollout.events import (
    ArtifactObserved,
    Base,
    Context,
    ContextSet,
    Data,
    Event,
    ItemAdded,
    ItemsMarked,
    ModelChanged,
    PinsChanged,
    RequestFinished,
    Usage,
    WindowCounted,
    WindowReplaced,
)
from pinfold.rollout.items import Form, Item
from pinfold.tokens.counter import Counter
from pinfold.window.gauge import Gauge
from pinfold.window.window import Window

START = datetime(2026, 1, 1, tzinfo=UTC)
PATHS = ("src/app.py", "src/lib/io.py", "README.md")
FORMS: tuple[Form, ...] = ("full", "masked", "placeholder")


def events(data: list[Data]) -> list[Event]:
    return [Event(seq, START + timedelta(seconds=seq), each) for seq, each in enumerate(data, 1)]


def fold(data: list[Data]) -> tuple[Window, Gauge]:
    """Both projections, fed with all of `data`."""
    window = Window()
    gauge = Gauge(window, Counter("none"), "chat")
    for event in events(data):
        window.step(event)
        gauge.step(event)
    return window, gauge


def finished(usage: Usage | None, through_seq: int, estimate: int = 100) -> RequestFinished:
    return RequestFinished(
        purpose="turn",
        provider="p",
        model="m",
        response=1,
        through_seq=through_seq,
        estimate=estimate,
        status="ok",
        usage=usage,
    )


@st.composite
def histories(draw: st.DrawFn) -> list[Data]:
    """Whole atoms in order, with pins, marks, replacements and reports anywhere between."""
    data: list[Data] = []
    last = 0
    for item in draw(windows()):
        data.append(ItemAdded(item=item))
        last = item.n
        data += draw(st.lists(changes(last, len(data)), max_size=2))
        last = max(
            [last, *(i.n for d in data if isinstance(d, WindowReplaced) for i in d.inserted)]
        )
    return data


def changes(last: int, seq: int) -> st.SearchStrategy[Data]:
    numbers = st.integers(1, last + 1)
    pins = st.lists(numbers | st.sampled_from(["src/**", "*.md"]), max_size=3).map(tuple)
    marks = st.tuples(numbers, st.sampled_from(FORMS))
    return st.one_of(
        st.builds(PinsChanged, add=pins, remove=pins, items=st.lists(marks, max_size=2).map(tuple)),
        st.builds(ItemsMarked, items=st.lists(marks, max_size=4).map(tuple)),
        st.builds(
            WindowReplaced,
            generation=st.integers(1, 9),
            base=st.just(Base(0, seq)),
            reason=st.just("manual"),
            window=st.lists(marks, max_size=8, unique_by=lambda mark: mark[0]).map(tuple),
            inserted=st.just((Item(n=1_000 + seq, kind="summary", content="so far"),)),
        ),
        st.builds(
            ArtifactObserved,
            uri=st.sampled_from(PATHS),
            kind=st.just("file"),
            op=st.sampled_from(["read", "update", "list"]),
            item=numbers,
        ),
        st.builds(
            lambda tokens, through: finished(Usage(input=tokens, output=7), through),
            st.integers(0, 9_999),
            st.integers(0, seq),
        ),
        st.builds(
            WindowCounted,
            provider=st.just("p"),
            model=st.just("m"),
            through_seq=st.integers(0, seq),
            estimate=st.integers(0, 999),
            tokens=st.integers(0, 9_999),
        ),
        st.builds(
            ModelChanged,
            provider=st.just("p"),
            model=st.sampled_from(["m", "another"]),
            context_window=st.just(8_192),
            window_source=st.just("config"),
        ),
        st.builds(
            lambda text: ContextSet(hash=text, context=Context(instructions=text)),
            st.sampled_from(["Be brief.", "Be kind, and brief."]),
        ),
    )
