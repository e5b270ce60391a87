"""Histories: any sequence of events that a rollout may hold, for property tests."""

from datetime import UTC, datetime, timedelta
from typing import Literal

from hypothesis import strategies as st

from fakes.windows import windows
from pinfold.rollout.context import Context
from pinfold.rollout.events import (
    ArtifactObserved,
    ContextSet,
    Data,
    Event,
    ItemAdded,
    ItemsMarked,
    ModelChanged,
    Pin,
    PinsChanged,
    RequestFinished,
    WindowCounted,
    WindowReplaced,
)
from pinfold.rollout.items import Form, Item
from pinfold.rollout.values import PlanBase, Usage
from pinfold.tokens.counter import Counter
from pinfold.window.gauge import Gauge
from pinfold.window.window import Window

START = datetime(2026, 1, 1, tzinfo=UTC)
PATHS = ("src/app.py", "src/lib/io.py", "README.md")
FORMS: tuple[Form, ...] = ("full", "masked", "placeholder")


def events(data: list[Data]) -> list[Event]:
    return [Event(seq, START + timedelta(seconds=seq), event) for seq, event in enumerate(data, 1)]


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


# Built once: a strategy that is made for each example costs more than all that is drawn from it.
_kinds = st.sampled_from(
    ["pins", "marks", "replaced", "observed", "finished", "counted", "model", "context"]
)
_few = st.integers(0, 2)
_generations = st.integers(1, 9)
_numbers = st.integers(0, 2_399)
_tokens = st.integers(0, 9_999)
_pins = st.lists(_numbers | st.sampled_from(["src/**", "*.md"]), max_size=3)
_marks = st.tuples(_numbers, st.sampled_from(FORMS))
_two, _four, _eight = (st.lists(_marks, max_size=most) for most in (2, 4, 8))
_paths = st.sampled_from(PATHS)
_ops: st.SearchStrategy[Literal["read", "update", "list"]] = st.sampled_from(
    ["read", "update", "list"]
)
_estimates = st.integers(0, 999)
_models = st.sampled_from(["m", "another"])
_instructions = st.sampled_from(["Be brief.", "Be kind, and brief."])


@st.composite
def histories(draw: st.DrawFn) -> list[Data]:
    """Whole atoms in order, with pins, marks, replacements and reports anywhere between."""
    data: list[Data] = []
    last = 0
    for item in draw(windows()):
        data.append(ItemAdded(item=item))
        last = item.n
        seq = len(data)
        data += [_change(draw, last, seq) for _ in range(draw(_few))]
        last = max(
            [last, *(i.n for d in data if isinstance(d, WindowReplaced) for i in d.inserted)]
        )
    return data


def _change(draw: st.DrawFn, last: int, seq: int) -> Data:
    """Any change of the window, of items up to one past the last."""

    def number(drawn: int) -> int:
        return drawn % (last + 1) + 1

    def pins() -> tuple[Pin, ...]:
        return tuple(pin if isinstance(pin, str) else number(pin) for pin in draw(_pins))

    def marks(some: st.SearchStrategy[list[tuple[int, Form]]]) -> tuple[tuple[int, Form], ...]:
        return tuple((number(n), form) for n, form in draw(some))

    match draw(_kinds):
        case "pins":
            return PinsChanged(add=pins(), remove=pins(), items=marks(_two))
        case "marks":
            return ItemsMarked(items=marks(_four))
        case "replaced":
            return WindowReplaced(
                generation=draw(_generations),
                base=PlanBase(0, seq),
                reason="manual",
                window=tuple(dict(marks(_eight)).items()),
                inserted=(Item(n=1_000 + seq, kind="summary", content="so far"),),
            )
        case "observed":
            return ArtifactObserved(
                uri=draw(_paths), kind="file", op=draw(_ops), item=number(draw(_numbers))
            )
        case "finished":
            return finished(Usage(input=draw(_tokens), output=7), draw(_numbers) % (seq + 1))
        case "counted":
            return WindowCounted(
                provider="p",
                model="m",
                through_seq=draw(_numbers) % (seq + 1),
                estimate=draw(_estimates),
                tokens=draw(_tokens),
            )
        case "model":
            return ModelChanged(
                provider="p", model=draw(_models), context_window=8_192, window_source="config"
            )
        case _:
            text = draw(_instructions)
            return ContextSet(hash=text, context=Context(instructions=text))
