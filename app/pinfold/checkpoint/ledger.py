"""The ledger: what the session's files, commands, tests and errors came to, and what the user
laid down. Built by the host from the log; no model has a hand in it."""

from pinfold.checkpoint.commitments import Commitment, Commitments
from pinfold.checkpoint.goals import Goal
from pinfold.checkpoint.ledger_lines import Count, Sizes
from pinfold.checkpoint.ledger_page import Page
from pinfold.checkpoint.ledger_records import Records
from pinfold.checkpoint.open_ends import OpenEnd, OpenEnds
from pinfold.checkpoint.readings import Readings
from pinfold.rollout.events import (
    ArtifactObserved,
    CoreChanged,
    Data,
    Event,
    GoalSet,
    ItemAdded,
    MemoryApplied,
    SessionStarted,
    WindowReplaced,
)
from pinfold.rollout.items import Item
from pinfold.rollout.memory import PlanMemory
from pinfold.rollout.provenance import words


class Ledger:
    """A projection of the rollout. `step` only takes an event in; its text is read, once, when
    somebody asks for what it says."""

    def __init__(self) -> None:
        self.seq = 0
        self._unread: list[Data] = []
        self._records = Records()
        self._commitments = Commitments()
        self._open_ends = OpenEnds()
        self._goal = Goal()
        self._readings = Readings()
        self._sizes: Sizes | None = None
        self._pages: dict[tuple[int, tuple[Commitment, ...]], str] = {}
        """What was rendered since something last came in."""

    def step(self, event: Event) -> None:
        self.seq = event.seq
        match event.data:
            case (
                ItemAdded()
                | ArtifactObserved()
                | SessionStarted()
                | CoreChanged()
                | GoalSet()
                | MemoryApplied()
                | WindowReplaced(reason="rewind")
            ):
                self._unread.append(event.data)

    def commitments(self) -> tuple[Commitment, ...]:
        """Those that stand, oldest first."""
        self.catch_up()
        return self._commitments.standing()

    def new_goal(self) -> tuple[str, int]:
        """What the user wants in the place of what they first asked for, and the message that says
        so; empty where that stands."""
        self.catch_up()
        return self._goal.standing()

    def open_ends(self) -> tuple[OpenEnd, ...]:
        """Questions without an answer, then the next step."""
        self.catch_up()
        return self._open_ends.standing()

    def outdated(self) -> frozenset[int]:
        """The messages that named a next step which is no longer the next."""
        self.catch_up()
        return self._open_ends.outdated()

    def readings(self) -> tuple[str, ...]:
        """Values that calls gave and that changed or are spoken of, a line each."""
        self.catch_up()
        return self._readings.lines()

    def known_files(self) -> int:
        """Files that are as the session last saw them, by their hash."""
        self.catch_up()
        return self._records.known_files()

    def render(self, budget_tokens: int, count: Count, *, commitments: bool = True) -> str:
        """The ledger in at most `budget_tokens`, the best first; empty where nothing fits.

        Its commitments can be left out, where they are told elsewhere.
        """
        self.catch_up()
        said = self._commitments.standing() if commitments else ()
        sizes = self._sizes
        if not sizes or not sizes.hold(count):
            sizes, self._pages = Sizes(count), {}
            self._sizes = sizes
        pages = self._pages  # these of now: another thread may begin new ones
        key = budget_tokens, said
        text = pages.get(key)
        if text is None:
            text = pages[key] = Page(self._records, said, budget_tokens, sizes).text()
        return text

    def catch_up(self) -> None:
        """Read the text of what came in, some 0.3 ms an item: a thread can do it beforehand."""
        if self._unread:
            self._pages = {}
        for data in self._unread:
            match data:
                case ItemAdded(item=item):
                    self._add(item)
                case ArtifactObserved():
                    self._records.observe(data)
                case SessionStarted(cwd=cwd):
                    self._records.cwd = cwd
                case CoreChanged():
                    self._commitments.change(data)
                case GoalSet():
                    self._goal.reset()
                case MemoryApplied(memory=PlanMemory()):
                    self._open_ends.plan()
                case WindowReplaced(window=window):
                    last = max((n for n, _ in window), default=0)
                    self._commitments.retract(last)
                    self._open_ends.retract(last)
                    self._goal.retract(last)
                    self._readings.retract(last)
        self._unread.clear()

    def _add(self, item: Item) -> None:
        self._records.add(item)
        self._readings.add(item)
        if item.kind == "user":
            said = words(item)
            self._commitments.read(said, item.n)
            self._open_ends.read(said, item.n)
            self._goal.read(said, item.n)
        elif item.kind == "assistant":
            self._commitments.hear(item.content, item.n)
            self._open_ends.hear(item.content, item.n)
