"""How a turn ended: what `Session.send` returns."""

import asyncio
from dataclasses import dataclass, field
from typing import Literal

from pinfold.rollout.provenance import Prompt
from pinfold.rollout.values import Usage


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended."""

    state: Literal["done", "waiting", "interrupted", "failed"]
    """`waiting` can continue unchanged: later, or once the user has acted."""
    reason: str = ""
    """Why it did not get to `done`."""
    limit: Literal["", "steps", "cost", "output"] = ""
    """The limit that it reached: of steps or of cost in a turn, or of the model's output."""
    usage: Usage = field(default_factory=Usage)
    """Of all its requests, without compactions."""
    answer: str = ""
    """The text after its last call."""
    sent: bool = True
    """False if the prompt could not be journalled, or was taken back."""


UNSENT = Ending("interrupted", sent=False)


@dataclass(frozen=True, slots=True, eq=False)
class Sending:
    """A prompt on its way, and how its turn ends. Made on the event loop."""

    prompt: Prompt
    steers: bool = False
    """Whether it may join the turn that runs."""
    is_command: bool = False
    """Whether it is `!command`: the user's own, for the shell."""
    ending: asyncio.Future[Ending] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def end(self, ending: Ending) -> None:
        """Set the ending; the first one counts."""
        if not self.ending.done():
            self.ending.set_result(ending)


def refused(why: str) -> asyncio.Future[Ending]:
    """The ending of a prompt that is not taken."""
    ending: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
    ending.set_result(Ending("failed", why, sent=False))
    return ending
