"""The prompts that wait for the turn's end. They change at once; the journal follows."""

import asyncio

from pinfold.agent.record import Record
from pinfold.agent.updates import QueueChanged, Told
from pinfold.rollout.events import Data, PromptQueued, PromptUnqueued
from pinfold.rollout.journal import JournalError
from pinfold.rollout.provenance import Prompt


class PromptQueue:
    """Oldest first. Every change is told to the record's listeners."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._prompts: dict[int, Prompt] = {}
        self._last_id = record.state.last_queue_id
        self.writing: set[asyncio.Task[None]] = set()

    @property
    def prompts(self) -> tuple[tuple[int, str], ...]:
        return tuple((queue_id, each.text) for queue_id, each in self._prompts.items())

    def add(self, prompt: Prompt) -> None:
        self._last_id += 1
        self._prompts[self._last_id] = prompt
        self._changed(PromptQueued(id=self._last_id, text=prompt.text, pasted=prompt.pasted))

    def take_back(self, queue_id: int) -> str:
        """The text of a prompt that leaves the queue unsent, or nothing if it is gone."""
        prompt = self._prompts.pop(queue_id, None)
        if prompt is None:
            return ""
        self._changed(PromptUnqueued(id=queue_id, reason="edited"))
        return prompt.text

    def next(self) -> tuple[Prompt | None, list[Data]]:
        """The oldest prompt, and the event that takes it out: journal both at once."""
        if not self._prompts:
            return None, []
        queue_id = next(iter(self._prompts))
        prompt = self._prompts.pop(queue_id)
        self._changed()
        return prompt, [PromptUnqueued(id=queue_id, reason="sent")]

    def clear(self) -> list[str]:
        """The texts of all, which leave the queue unsent."""
        taken, self._prompts = self._prompts, {}
        if taken:
            self._changed(*(PromptUnqueued(id=queue_id, reason="edited") for queue_id in taken))
        return [prompt.text for prompt in taken.values()]

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
