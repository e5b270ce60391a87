"""`checkpoint_v1.json`, written whenever the session comes to rest."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from pinfold.agent.record import Record
from pinfold.agent.updates import Appended, Update
from pinfold.checkpoint import persist
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.rollout.events import Event, WindowReplaced
from pinfold.rollout.journal import JournalError


class CheckpointFile:
    """Folds the journal before its first write; then follows what is appended."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._state: CheckpointState | None = None
        self._follows = False
        self._came: list[Event] = []
        self._due = False
        self._writing: asyncio.Task[None] | None = None
        record.subscribe(self._hear)

    async def written(self) -> None:
        """Wait until the file is written, if it can be."""
        if self._writing is not None and not self._writing.done():
            await asyncio.wait([self._writing])

    def _hear(self, update: Update) -> None:
        if not isinstance(update, Appended):
            return
        if self._follows:
            self._came.append(update.event)
        if self._record.state.turn_open and not isinstance(update.event.data, WindowReplaced):
            return
        self._due = True
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while self._due:
            self._due, self._follows = False, True
            came, self._came = self._came, []
            with suppress(OSError, JournalError):  # it can be made again at any time
                await asyncio.to_thread(self._save, came)

    def _save(self, came: list[Event]) -> None:
        state, self._state = self._state, None  # half folded it is of no use
        journal = self._record.journal
        events: Iterable[Event] = came if state is not None else journal.read()
        state = state or CheckpointState()
        for event in events:
            if event.seq > state.seq:
                state.step(event)
        self._state = state
        persist.save(journal.folder, state.snapshot())
