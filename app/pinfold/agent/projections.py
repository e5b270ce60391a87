"""All that is folded from a journal."""

from msgspec import Struct

from pinfold.agent.state import State
from pinfold.rollout.events import Event
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import WireApi
from pinfold.window.bodies import Read
from pinfold.window.gauge import Gauge, GaugeDump
from pinfold.window.window import Window, WindowDump


class Dump(Struct, frozen=True, array_like=True):
    """Projections as plain data. Whoever adds one adds it here."""

    seq: int
    """The last event in it."""
    offset: int
    """Where that one's line ends in the rollout."""
    state: State
    window: WindowDump
    gauge: GaugeDump


class Projections:
    """They step together, each event through all of them."""

    def __init__(self, read: Read | None, counter: Counter, wire_api: WireApi) -> None:
        """`read` gets at bodies outside of memory."""
        self.state = State()
        self.window = Window(read)
        self.gauge = Gauge(self.window, counter, wire_api)
        self.seq = 0
        self.offset = 0
        """Where the last event's line ends in the rollout."""
        self.saved = 0
        """How far the cache goes."""

    def step(self, event: Event) -> None:
        self.state.step(event)
        self.window.step(event)
        self.gauge.step(event)
        self.seq = event.seq
        self.offset = event.offset + event.length + 1

    def settle(self) -> None:
        """All events are in: take what is needed from now on. Raises `Lost`, `JournalError`."""
        self.window.settle()
        self.gauge.catch_up()

    def dump(self) -> Dump:
        """Shares their state: encode it before the next step."""
        return Dump(self.seq, self.offset, self.state, self.window.dump(), self.gauge.dump())

    def load(self, dump: Dump) -> None:
        """Become, from new, what was dumped. Raises `Lost`, `ValueError`, `JournalError`."""
        self.state = dump.state
        self.window.load(dump.window)
        self.gauge.load(dump.gauge, dump.state.context.context)
        self.seq, self.offset = dump.seq, dump.offset
        self.saved = dump.offset
