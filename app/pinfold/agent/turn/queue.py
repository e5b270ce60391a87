"""The prompts that wait for a turn, or to join one. They change at once; the journal follows."""

import asyncio

from pinfold.agent.record import Record
from pinfold.agent.turn.ending import UNSENT, Ending, Sending
from pinfold.agent.updates import QueueChanged, Told, WaitingPrompt
from pinfold.rollout.events import Data, PromptQueued, PromptUnqueued
from pinfold.rollout.journal import JournalError
from pinfold.rollout.provenance import Prompt


class PromptQueue:
    """Oldest first. Every change is told to the record's listeners."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._waiting: dict[int, Sending] = {}
        self._joined: list[Sending] = []
        """Those that joined the turn that runs."""
        self._last_id = record.state.last_queue_id
        self.writing: set[asyncio.Task[None]] = set()

    @property
    def prompts(self) -> tuple[WaitingPrompt, ...]:
        return tuple(
            WaitingPrompt(queue_id, sending.prompt.text, sending.steers)
            for queue_id, sending in self._waiting.items()
        )

    def add(
        self, prompt: Prompt, *, steers: bool = False, is_command: bool = False
    ) -> asyncio.Future[Ending]:
        """Put `prompt` last; how its turn ends."""
        self._last_id += 1
        sending = self._waiting[self._last_id] = Sending(prompt, steers, is_command)
        self._changed(
            PromptQueued(
                id=self._last_id,
                text=prompt.text,
                pasted=prompt.pasted,
                steers=sending.steers,
                expands=prompt.expands,
            )
        )
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

    def next_to_join(self) -> tuple[int, Sending] | None:
        """The oldest prompt that may join the turn; it leaves the queue, but not the journal."""
        found = next((pair for pair in self._waiting.items() if pair[1].steers), None)
        if found is not None:
            del self._waiting[found[0]]
            self._changed()
        return found

    def joined(self, sending: Sending) -> None:
        """Note that it is part of the turn, with which it ends."""
        self._joined.append(sending)

    def put_back(self, queue_id: int, sending: Sending) -> None:
        """Put a prompt first that did not join."""
        self._waiting = {queue_id: sending, **self._waiting}
        self._changed()

    def end_joined(self, ending: Ending) -> None:
        """Tell who waits for the prompts that joined the turn how it ended."""
        joined, self._joined = self._joined, []
        for sending in joined:
            sending.end(ending)

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
