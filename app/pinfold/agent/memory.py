"""What is folded beside the window: checkpoint, core, digest, when it is first asked for."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from pinfold.agent.updates import Appended, Update
from pinfold.checkpoint.core import Suggestion, suggestions
from pinfold.checkpoint.drift import unnamed
from pinfold.checkpoint.known import Known
from pinfold.checkpoint.model import CheckpointV1
from pinfold.checkpoint.sources import Sources
from pinfold.digest.choice import Digest, choose
from pinfold.rollout.events import Event, Stated
from pinfold.rollout.journal import Journal

SUGGESTED = 1_000
"""Tokens of suggestions for the core."""
T = TypeVar("T")


class Remembered(NamedTuple):
    """What is kept in mind at one moment, for people to read."""

    checkpoint: CheckpointV1
    stated: tuple[Stated, ...]
    """What the user put into the core."""
    suggested: tuple[Suggestion, ...]
    digest: Digest
    sources: Sources


def remembered(known: Known, budget: int) -> Remembered:
    """What is known, the digest in at most `budget` tokens."""
    adopted = known.core.suggested()
    texts = {each.text for each in adopted}
    found = suggestions(known.record, known.core, SUGGESTED)
    return Remembered(
        known.checkpoint,
        known.core.stated(),
        (*adopted, *(each for each in found if each.text not in texts)),
        choose(known.record, budget),
        known.sources,
    )


class Memory:
    """Reads the journal once, in a thread; from then on it follows what is appended."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = asyncio.Lock()
        self._begin()

    def _begin(self) -> None:
        self.known = Known()
        self._seq = 0
        self._read = False
        self._came: list[Event] = []

    @property
    def checkpoint(self) -> CheckpointV1:
        return self.known.checkpoint

    def hear(self, update: Update) -> None:
        if self._read and isinstance(update, Appended):
            self._came.append(update.event)

    async def now(self) -> Known:
        """All of it, as of the last event. Raises `JournalError`."""
        return await self._folded(lambda: self.known)

    async def unnamed(self, uris: Sequence[str]) -> list[str]:
        """Of the files, those that nothing names; see `drift.unnamed`. Raises `JournalError`."""
        return await self._folded(lambda: unnamed(self.known, uris))

    async def remembered(self, budget: int) -> Remembered:
        """The same for people, the digest in at most `budget` tokens. Raises `JournalError`."""
        return await self._folded(lambda: remembered(self.known, budget))

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
                    self.known.step(event)
            self.known.record.catch_up()
        except BaseException:
            self._begin()
            raise
