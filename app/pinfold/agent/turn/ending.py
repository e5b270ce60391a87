"""How a turn ended: what whoever sent its prompt can wait for."""

import asyncio
from dataclasses import dataclass, field
from typing import Literal

from pinfold.rollout.provenance import Prompt
from pinfold.rollout.values import Usage


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended."""

    state: Literal["done", "waiting", "interrupted", "failed"]
    """`waiting` can go on as it is: later, or once the user has acted."""
    reason: str = ""
    """Why it did not get to `done`."""
    limit: Literal["", "steps", "cost", "output"] = ""
    """The limit that it reached: of steps or of cost in a turn, or of the model's output."""
    usage: Usage = field(default_factory=Usage)
    """Of its requests together; what compactions used meanwhile is not in it."""
    answer: str = ""
    """The text after its last call."""
    sent: bool = True
    """False where not even the prompt could be written down, or it was taken back before."""


UNSENT = Ending("interrupted", sent=False)


@dataclass(frozen=True, slots=True, eq=False)
class Sending:
    """A prompt on its way, and how its turn ends. Made on the event loop."""

    prompt: Prompt
    steers: bool = False
    """Whether it may join the turn that runs."""
    ending: asyncio.Future[Ending] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def end(self, ending: Ending) -> None:
        """Tell who waits for it; the first ending counts."""
        if not self.ending.done():
            self.ending.set_result(ending)


def refused(why: str) -> asyncio.Future[Ending]:
    """The ending of a prompt that is not taken."""
    ending: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
    ending.set_result(Ending("failed", why, sent=False))
    return ending
