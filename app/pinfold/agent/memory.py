"""What the host keeps in mind beside the window: checkpoint and ledger, folded when first asked."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from pinfold.agent.updates import Appended, Update
from pinfold.checkpoint.commitments import Commitment
from pinfold.checkpoint.ledger import Ledger
from pinfold.checkpoint.ledger_lines import Count
from pinfold.checkpoint.model import CheckpointV1
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.checkpoint.sources import Sources
from pinfold.rollout.events import Event
from pinfold.rollout.journal import Journal

T = TypeVar("T")


class Remembered(NamedTuple):
    """What is kept in mind at one moment, for people to read."""

    checkpoint: CheckpointV1
    commitments: tuple[Commitment, ...]
    ledger: str
    """Without the commitments."""
    sources: Sources


class Memory:
    """Reads the journal once, in a thread; from then on it follows what is appended."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = asyncio.Lock()
        self._begin()

    def _begin(self) -> None:
        self.checkpoint = CheckpointState()
        self.ledger = Ledger()
        self.sources = Sources()
        self._seq = 0
        self._read = False
        self._came: list[Event] = []

    def hear(self, update: Update) -> None:
        if self._read and isinstance(update, Appended):
            self._came.append(update.event)

    async def now(self) -> tuple[CheckpointV1, Ledger]:
        """Both, as of the last event. Raises `JournalError`."""
        return await self._folded(lambda: (self.checkpoint.snapshot(), self.ledger))

    async def remembered(self, budget: int, count: Count) -> Remembered:
        """All of it, the ledger in at most `budget` tokens. Raises `JournalError`."""
        return await self._folded(
            lambda: Remembered(
                self.checkpoint.snapshot(),
                self.ledger.commitments(),
                self.ledger.render(budget, count, commitments=False),
                self.sources,
            )
        )

    async def _folded(self, take: Callable[[], T]) -> T:
        """What `take` takes, in a thread, when all events are folded."""

        def fold() -> T:
            self._fold()
            return take()

        async with self._lock:
            folding = asyncio.ensure_future(asyncio.to_thread(fold))
            try:
                return await asyncio.shield(folding)
            except asyncio.CancelledError:
                await asyncio.wait([folding])  # nobody may look at it half folded
                raise

    def _fold(self) -> None:
        whole, self._read = not self._read, True
        came, self._came = self._came, []
        try:
            for event in self._journal.read() if whole else came:
                if event.seq > self._seq:
                    self._seq = event.seq
                    self.checkpoint.step(event)
                    self.ledger.step(event)
                    self.sources.step(event)
            self.ledger.catch_up()
        except BaseException:
            self._begin()
            raise
