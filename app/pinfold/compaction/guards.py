"""When a window is compacted automatically. Plain values only."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Auto = Literal["auto", "ask", "off"]
Cause = Literal["threshold", "overflow", "model"]
"""The window is nearly full; the provider refused it; another model's window is smaller."""
NextStep = Literal["leave", "ask", "compact"]
"""Leave the window as it is; ask the user; compact it."""

MIN_GAIN = 0.10
"""Of the window's items that a compaction must save."""
GROWTH = 0.10
"""Of the usable window that it must grow by before the threshold counts again."""
MAX_FAILURES = 3
"""Failures in a row after which nothing runs automatically until something has changed."""
RESUMES = (
    "Your next prompt, /compact, or a change of pins, masks, model or settings resumes automatic "
    "compaction."
)


class PastCompactions(Struct, frozen=True):
    """The outcome of earlier compactions."""

    after: int | None = None
    """Tokens of the request right after the last one, done or declined; None without one."""
    vain: int | None = None
    """Tokens of the window when one would have gained too little, as long as that counts."""
    failures: int = 0
    """In a row."""
    undone: bool = False
    """The user took the last one back, and has not prompted since."""

    @property
    def stopped(self) -> bool:
        """Whether nothing runs automatically until something has changed."""
        return self.failures >= MAX_FAILURES

    def succeeded(self, after: int) -> "PastCompactions":
        return PastCompactions(after)

    def failed(self) -> "PastCompactions":
        return replace(self, failures=self.failures + 1)

    def declined(self, used: int) -> "PastCompactions":
        """The user left the preview without applying it."""
        return replace(self, after=used)

    def in_vain(self, used: int) -> "PastCompactions":
        """It would have gained too little; with a fuller window it may be worth it."""
        return replace(self, vain=used)

    def below(self) -> "PastCompactions":
        """The window fell below the threshold: its old content is gone."""
        return replace(self, vain=None)

    def undid(self) -> "PastCompactions":
        return replace(self, undone=True)

    def prompted(self) -> "PastCompactions":
        """The user sent a prompt."""
        return replace(self, vain=None, failures=0, undone=False)

    def changed(self) -> "PastCompactions":
        """Pins, masks, the model, its window or the options are others: it may work now."""
        return replace(self, vain=None, failures=0)

    def acted(self) -> "PastCompactions":
        """The user compacted, changed the options or the model."""
        return PastCompactions()


def next_step(
    cause: Cause,
    used: int,
    usable: int,
    threshold: float,
    auto: Auto,
    past: PastCompactions,
    *,
    paused: bool = False,
) -> NextStep:
    """What to do before a request of `used` tokens. `threshold` is a share of `usable`; `paused`:
    whether the last turn is paused, to be continued in this window."""
    if auto == "off" or past.stopped:
        return "leave"
    if cause != "overflow" and (paused or past.undone):
        return "leave"
    if cause == "threshold":
        last = max(past.after or 0, past.vain or 0)
        grown = not last or used - last >= GROWTH * usable
        if used < threshold * usable or not (grown or used > usable):
            return "leave"
    if cause == "model" and used <= threshold * usable:
        return "leave"
    return "ask" if auto == "ask" or cause == "model" else "compact"
