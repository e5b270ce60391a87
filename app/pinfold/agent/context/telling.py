"""Appends what changes during a session, so that requests begin as before.

A provider's prompt cache serves the part of a request that is byte for byte that of an earlier
one. So the state of a thing (approvals, a file of rules, the branch) is told at the end of the
window, and again whenever it has changed or a compaction has dropped what told of it.
"""

from dataclasses import dataclass

from pinfold.agent.record import Record
from pinfold.agent.state import digest
from pinfold.rollout.items import ABOUT, Item


@dataclass(frozen=True, slots=True)
class Telling:
    """The state of one subject, as told to the model."""

    about: str
    """The subject."""
    text: str
    state: str | None = None
    """What is compared with what the model knows, where that is not `text` itself."""

    @property
    def digest(self) -> str:
        return digest(self.text if self.state is None else self.state)


async def tell(record: Record, *tellings: Telling) -> None:
    """Add an item for what the model does not know yet. Raises `JournalError`.

    Not while a response streams: the item would cut it in two.
    """
    for telling in tellings:
        if record.state.known.get(telling.about) != telling.digest:
            detail = {ABOUT: [telling.about, telling.digest]}
            await record.put(Item(n=0, kind="context", content=telling.text, detail=detail))
