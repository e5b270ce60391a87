"""An agent that has ended, read from its rollout."""

from collections.abc import Sequence
from pathlib import Path

from pinfold.agent import projection_cache
from pinfold.agent.projections import Projections
from pinfold.agent.requests.connection import Connection
from pinfold.ports.clock import Clock
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import Event, ItemAdded, Pin, TurnFinished
from pinfold.rollout.items import Form, Item
from pinfold.rollout.journal import Journal
from pinfold.tokens.counter import Counter
from pinfold.window.archive import ArchivedItems
from pinfold.window.reading import GaugeReading
from pinfold.window.window import Boundary


class PastAgent:
    """An agent that has ended, for a transcript and a gauge."""

    def __init__(self, projections: Projections, model: ModelInfo) -> None:
        self._window = projections.window
        self.model = model
        self.reading: GaugeReading = projections.gauge.reading(model)

    @property
    def items(self) -> Sequence[Item]:
        archive = self._window.archive
        return ArchivedItems(archive, tuple(archive))

    @property
    def boundaries(self) -> Sequence[Boundary]:
        return self._window.boundaries

    def form(self, n: int) -> Form | None:
        return self._window.form(n)

    def pin_on(self, n: int) -> Pin | None:
        return self._window.pin_on(n) if self._window.is_pinned(n) else None


def past_of(folder: Path, clock: Clock, counter: Counter, connection: Connection) -> PastAgent:
    """Read from its rollout; the model is that of `connection` if the rollout names none. Slow: for
    a thread. Raises `JournalError`."""
    with Journal.open(folder, clock.now, read_only=True) as journal:
        projections = projection_cache.resume(journal, counter, connection.wire_api)
    model = connection.model
    if (named := projections.state.model) is not None:
        model = ModelInfo(named.model, named.provider, named.context_window, "config")
    return PastAgent(projections, model)


def events_of(folder: Path, clock: Clock) -> Sequence[Event]:
    with Journal.open(folder, clock.now, read_only=True) as journal:
        return tuple(journal.read())


def own_events(events: Sequence[Event]) -> Sequence[Event]:
    """The agent's own events: a fork of its parent's window begins with older ones."""
    return [event for event in events if event.ts >= events[0].ts]


def was_done(events: Sequence[Event]) -> bool:
    """Whether its last turn was done."""
    turns = (event.data for event in reversed(events) if isinstance(event.data, TurnFinished))
    last = next(turns, None)
    return last is not None and last.state == "done"


def last_words(events: Sequence[Event]) -> str:
    """The last text that it wrote."""
    for event in reversed(events):
        if isinstance(event.data, ItemAdded) and event.data.item.kind == "assistant":
            return event.data.item.content
    return ""
