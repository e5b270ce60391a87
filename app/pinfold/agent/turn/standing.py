"""Where a session stood when it was left, in a few words: last turn, last request, plan."""

from collections.abc import Sequence
from dataclasses import dataclass

from pinfold.agent.record import Record
from pinfold.checkpoint import persist
from pinfold.checkpoint.model import Plan
from pinfold.checkpoint.text import short

_WORDS = 160
"""Characters of a request or a step."""
_NAMED = 3
"""Open steps that are named."""
_ENDINGS = {
    "done": "was finished",
    "waiting": "waits to go on",
    "interrupted": "was interrupted",
    "failed": "failed",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """How a session was left; empty for one that has had no turn."""

    ending: str = ""
    """Of the last turn: `done`, `waiting` ..."""
    reason: str = ""
    n: int = 0
    """The user's last request."""
    request: str = ""
    opened: Sequence[str] = ()
    """The plan's open steps, in order."""
    steps: int = 0
    """All that it has."""

    def for_user(self) -> str:
        """A line or two."""
        if not self.n:
            return ""
        finished = " was finished" if self.ending == "done" else ""
        plan = ""
        if self.steps:
            next_one = f"; next: {self.opened[0]}" if self.opened else ""
            plan = f" Plan: {self._done}{next_one}."
        return f"Your last request (#{self.n}){finished}: “{self.request}”.{plan}"

    def for_model(self) -> str:
        """What is left to do; nothing where that is nothing."""
        if not self.n or (self.ending == "done" and not self.opened):
            return ""
        reason = f": {self.reason.rstrip('.')}" if self.reason else ""
        ending = f"The last turn {_ENDINGS[self.ending]}{reason}."
        lines = [
            f"This session was closed and is open again. {ending}",
            f"The user's last request (#{self.n}): “{self.request}”.",
        ]
        if self.opened:
            more = len(self.opened) - _NAMED
            named = "; ".join(self.opened[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
            lines.append(f"Plan: {self._done}; open: {named}.")
        lines.append("Go on from there, unless the user now says otherwise.")
        return "\n".join(lines)

    @property
    def _done(self) -> str:
        return f"{self.steps - len(self.opened)} of {self.steps} steps done"


def standing_of(record: Record) -> Standing:
    """As the journal has it, and the checkpoint beside it: no plan where that file is missing."""
    state, archive = record.state, record.window.archive
    asked = (n for n in reversed(tuple(archive)) if archive.head(n).kind == "user")
    n = next(asked, 0)
    if not state.turn or not n:
        return Standing()
    known = persist.newest(record.journal.folder, state.seq)
    plan = known.plan if known is not None else Plan(steps=(), done={})
    return Standing(
        ending="interrupted" if state.turn_open else state.turn_state or "done",
        reason="pinfold stopped" if state.turn_open else state.turn_reason,
        n=n,
        request=short(archive[n].content, _WORDS),
        opened=[
            short(step.text, _WORDS).rstrip(".")
            for step in plan.steps
            if not plan.done.get(step.id)
        ],
        steps=len(plan.steps),
    )
