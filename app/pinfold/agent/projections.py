"""All that is folded from a journal."""

from collections import deque
from collections.abc import Iterable

from msgspec import Struct

from pinfold.agent.state import State
from pinfold.checkpoint.known import Known
from pinfold.compaction.view import WindowView, view_of
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import Event
from pinfold.rollout.journal import Journal
from pinfold.settings import WireApi
from pinfold.tokens.counter import Counter
from pinfold.window.gauge import Gauge, GaugeDump
from pinfold.window.window import Window, WindowDump


class Dump(Struct, frozen=True, array_like=True):
    """Projections as plain data. Anyone who adds one adds it here."""

    seq: int
    """The last event in it."""
    offset: int
    """Where that one's line ends in the rollout."""
    state: State
    window: WindowDump
    gauge: GaugeDump


class Projections:
    """They step together, each event through all of them."""

    def __init__(
        self,
        counter: Counter,
        wire_api: WireApi,
        *,
        journal: Journal | None = None,
        known: Known | None = None,
    ) -> None:
        """`journal` has bodies that are not in memory, and the events of before. `known` is that of
        somebody who folds it."""
        self.state = State()
        self.window = Window(None if journal is None else journal.read_at)
        self.gauge = Gauge(self.window, counter, wire_api)
        self.seq = 0
        self.offset = 0
        """Where the last event's line ends in the rollout."""
        self.saved = 0
        """How far the cache goes."""
        self.known = Known() if known is None else known
        """As of the last `catch_up`."""
        self._journal = journal
        self._known_seq = 0
        self._came: deque[Event] | None = deque() if journal is None and known is None else None
        """Events that `known` lacks; none where it was not asked for, or is somebody else's."""

    def step(self, event: Event) -> None:
        self.state.step(event)
        self.window.step(event)
        self.gauge.step(event)
        if (came := self._came) is not None:  # a thread may put another there meanwhile
            came.append(event)
        self.seq = event.seq
        self.offset = event.offset + event.length + 1

    def catch_up(self) -> Known:
        """Fold what `known` lacks: at first all of the journal. Slow: for a thread, one at a time.

        Raises `JournalError`.
        """
        try:
            if self._came is None and self._journal is not None:
                self._came = deque()  # from now on; the journal has what came before
                for event in self._journal.read():
                    self._learn(event)
            while self._came:
                self._learn(self._came.popleft())
            self.known.record.catch_up()
        except BaseException:
            self.known, self._known_seq, self._came = Known(), 0, None
            raise
        return self.known

    def _learn(self, event: Event) -> None:
        if event.seq > self._known_seq:
            self._known_seq = event.seq
            self.known.step(event)

    def view(self, model: ModelInfo) -> WindowView:
        """The window now, and what was known at the last `catch_up`."""
        return view_of(self.window, self.gauge, self.known, model)

    def settle(self) -> None:
        """After the last event: load what the window needs. Raises `ItemLost`, `JournalError`."""
        self.window.settle()
        self.gauge.catch_up()

    def dump(self) -> Dump:
        """Shares their state: encode it before the next step."""
        return Dump(self.seq, self.offset, self.state, self.window.dump(), self.gauge.dump())

    def load(self, dump: Dump) -> None:
        """Load a dump into new projections. Raises `ItemLost`, `ValueError`, `JournalError`."""
        self.state = dump.state
        self.window.load(dump.window)
        self.gauge.load(dump.gauge, dump.state.context.context)
        self.seq, self.offset = dump.seq, dump.offset
        self.saved = dump.offset


def folded(
    events: Iterable[Event], counter: Counter, wire_api: WireApi, known: Known | None = None
) -> Projections:
    """The projections of events that are in no journal."""
    projections = Projections(counter, wire_api, known=known)
    for event in events:
        projections.step(event)
    projections.catch_up()
    return projections
