"""Prompts that the user sends while a turn runs, and that the model gets in that turn."""

import asyncio
from dataclasses import dataclass

from msgspec.structs import replace

from pinfold.agent.hooks import Stopped
from pinfold.agent.record import Record
from pinfold.agent.turn.before_turn import BeforeTurn
from pinfold.agent.turn.ending import Ending
from pinfold.agent.turn.queue import PromptQueue
from pinfold.agent.updates import PromptReturned, Told
from pinfold.rollout import provenance
from pinfold.rollout.events import ItemAdded, PromptUnqueued
from pinfold.rollout.items import Image, Item
from pinfold.rollout.journal import JournalError


def user_item(prompt: provenance.Prompt, turn: int, images: tuple[Image, ...]) -> Item:
    """The item of a prompt, without its number."""
    return Item(
        n=0,
        kind="user",
        content=prompt.text,
        turn=turn,
        images=images,
        detail=provenance.detail(prompt),
    )


@dataclass(eq=False)
class Joining:
    _record: Record
    _queue: PromptQueue
    _before: BeforeTurn

    async def join(self, turn: int) -> None:
        """Append the prompts that steer; none is lost where that fails or is interrupted.

        Raises `JournalError`.
        """
        record = self._record
        while (found := self._queue.next_to_join()) is not None:
            queue_id, sending = found
            try:
                await self._before.check(sending.prompt.text)
                images = await self._before.attachments(sending.prompt)
                user = user_item(sending.prompt, turn, images)
                sent = PromptUnqueued(id=queue_id, reason="sent")
                await record.add(lambda n: [sent, ItemAdded(item=replace(user, n=n))])  # noqa: B023
            except Stopped as stopped:
                await record.append(PromptUnqueued(id=queue_id, reason="edited"))
                sending.end(Ending("failed", str(stopped), sent=False))
                record.tell(Told(str(stopped), "error"))
                record.tell(PromptReturned(sending.prompt.text))
                continue
            except (JournalError, asyncio.CancelledError):
                if queue_id in record.state.queue:
                    self._queue.put_back(queue_id, sending)
                else:
                    self._queue.joined(sending)
                raise
            self._queue.joined(sending)
