"""The prompts that wait for the turn's end. They change at once; the journal follows."""

import asyncio

from pinfold.agent.record import Record
from pinfold.agent.turn.ending import UNSENT, Ending, Sending
from pinfold.agent.updates import QueueChanged, Told
from pinfold.rollout.events import Data, PromptQueued, PromptUnqueued
from pinfold.rollout.journal import JournalError
from pinfold.rollout.provenance import Prompt


class PromptQueue:
    """Oldest first. Every change is told to the record's listeners."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._waiting: dict[int, Sending] = {}
        self._last_id = record.state.last_queue_id
        self.writing: set[asyncio.Task[None]] = set()

    @property
    def prompts(self) -> tuple[tuple[int, str], ...]:
        return tuple((queue_id, sending.prompt.text) for queue_id, sending in self._waiting.items())

    def add(self, prompt: Prompt) -> asyncio.Future[Ending]:
        """Put `prompt` last; how its turn ends."""
        self._last_id += 1
        sending = self._waiting[self._last_id] = Sending(prompt)
        self._changed(PromptQueued(id=self._last_id, text=prompt.text, pasted=prompt.pasted))
        return sending.ending

    def take_back(self, queue_id: int) -> str:
        """The text of a prompt that leaves the queue unsent, or nothing if it is gone."""
        sending = self._waiting.pop(queue_id, None)
        if sending is None:
            return ""
        self._changed(PromptUnqueued(id=queue_id, reason="edited"))
        sending.end(UNSENT)
        return sending.prompt.text

    def next(self) -> tuple[Sending | None, list[Data]]:
        """The oldest prompt, and the event that takes it out: journal both at once."""
        if not self._waiting:
            return None, []
        queue_id = next(iter(self._waiting))
        sending = self._waiting.pop(queue_id)
        self._changed()
        return sending, [PromptUnqueued(id=queue_id, reason="sent")]

    def clear(self) -> list[str]:
        """The texts of all, which leave the queue unsent."""
        taken, self._waiting = self._waiting, {}
        if taken:
            self._changed(*(PromptUnqueued(id=queue_id, reason="edited") for queue_id in taken))
        for sending in taken.values():
            sending.end(UNSENT)
        return [sending.prompt.text for sending in taken.values()]

    def leave(self) -> None:
        """Send none of them: they stay in the journal, for the next opening."""
        for sending in self._waiting.values():
            sending.end(UNSENT)

    def _changed(self, *data: Data) -> None:
        self._record.tell(QueueChanged(self.prompts))
        if data:
            task = asyncio.create_task(self._write(data))
            self.writing.add(task)
            task.add_done_callback(self.writing.discard)

    async def _write(self, data: tuple[Data, ...]) -> None:
        try:
            await self._record.append(*data)
        except JournalError as error:
            self._record.tell(Told(str(error), "error"))
