"""Reopens a session: tells how it was left, and ends a turn that was cut short."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pinfold.agent.files import Meanwhile
from pinfold.agent.record import Record
from pinfold.agent.state import State
from pinfold.checkpoint import persist
from pinfold.checkpoint.model import CheckpointV1, Plan
from pinfold.checkpoint.text import short
from pinfold.checkpoint.view import view_v1
from pinfold.rollout import drafts
from pinfold.rollout.events import PromptUnqueued, TurnFinished
from pinfold.rollout.journal import Torn
from pinfold.rollout.provenance import slices

CRASHED = "Unknown: pinfold stopped before this call's result was saved."
CLOSED = "This session was closed and is open again"
_WORDS = 160
"""Characters of a request or a step."""
_NAMED = 3
"""Open steps that are named."""
_ENDINGS = {
    "done": "was finished",
    "waiting": "is waiting to continue",
    "interrupted": "was interrupted",
    "failed": "failed",
}


@dataclass(frozen=True, slots=True)
class LeftAt:
    """Where a session was left; empty for one that has had no turn."""

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
    is_fork: bool = False
    """Whether it is a fork, or was rewound, and nothing has been added since."""

    def for_user(self) -> str:
        """A line or two; empty where nothing is left to do."""
        if not self.n or (self.ending == "done" and not self.opened):
            return ""
        finished = " was finished" if self.ending == "done" else ""
        plan = ""
        if self.steps:
            next_one = f"; next: {self.opened[0]}" if self.opened else ""
            plan = f" Plan: {self._done}{next_one}."
        return f"Your last request (#{self.n}){finished}: “{self.request}”.{plan}"

    def for_model(self) -> str:
        """What is left to do; empty if nothing is."""
        if not self.n or (self.ending == "done" and not self.opened):
            return ""
        ending = _ending(self.ending, self.reason)
        lines = [
            f"{'The user forked the session here' if self.is_fork else CLOSED}. {ending}",
            f"The user's last request (#{self.n}): “{self.request}”.",
        ]
        if self.opened:
            more = len(self.opened) - _NAMED
            named = "; ".join(self.opened[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
            lines.append(f"Plan: {self._done}; open: {named}.")
        lines.append("Continue from there, unless the user now says otherwise.")
        return "\n".join(lines)

    @property
    def _done(self) -> str:
        return f"{self.steps - len(self.opened)} of {self.steps} steps done"


def left_at(record: Record) -> LeftAt:
    """From the journal and the checkpoint file; no plan if that is missing."""
    state, archive = record.state, record.window.archive
    asked = (n for n in reversed(tuple(archive)) if archive.head(n).kind == "user")
    n = next(asked, 0)
    if not state.turn or not n:
        return LeftAt()
    known = persist.load(record.journal.folder, state.seq)
    plan = known.plan if known is not None else Plan(steps=(), done={})
    _, _, forked_at = (record.journal.started.forked_from or "").partition(":")
    return LeftAt(
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
        is_fork=forked_at == str(state.last_n),
    )


def _ending(state: str, reason: str) -> str:
    """How the last turn ended, in a sentence."""
    why = reason.rstrip(".")
    return f"The last turn {_ENDINGS[state]}{f': {why}' if why else ''}."


def found_as(state: State, *, read_only: bool) -> tuple[str, ...]:
    """Sentences on how the last turn ended and which prompts waited; none if all was done."""
    found = []
    if state.turn_open:
        found.append(
            "pinfold stopped in the middle of a turn. The text streaming at that moment is lost."
        )
    elif state.turn_state not in ("", "done"):
        found.append(_ending(state.turn_state, state.turn_reason))
    if (waiting := len(state.queue)) and not read_only:
        were = "queued prompt is" if waiting == 1 else f"{waiting} queued prompts are"
        found.append(f"The {were} in the prompt line.")
    return tuple(found)


def damage_of(torn: Torn | None, unreadable: int) -> tuple[str, ...]:
    """Sentences on the lines of the journal that could not be read."""
    said = []
    if torn is not None:
        size, kept = f"({torn.size:,} bytes)", f"cut off and kept in {torn.path}."
        if torn.lines == 1:
            how = "was half-written" if torn.half else "could not be read"
            said.append(f"The last line {how} {size}. It is {kept}")
        else:
            said.append(
                f"The last {torn.lines:,} lines could not be read {size}: whole turns may be gone. "
                f"They are {kept}"
            )
    if unreadable:
        said.append(f"{unreadable} lines of the journal are damaged; they are left unchanged.")
    return tuple(said)


def changed_since(meanwhile: Meanwhile, checkpoint: CheckpointV1) -> str:
    """The changed files for the model, and the checkpoint with the facts in doubt."""
    return (
        "Files have changed since you last saw them; read them again before you rely on them.\n"
        f"{meanwhile}\n\n{view_v1(checkpoint)}".rstrip()
    )


async def take_up(record: Record) -> None:
    """End a turn that a crash cut short; prompts that waited go into the draft.

    Raises `JournalError`.
    """
    state, folder = record.state, record.journal.folder
    if waited := tuple(state.queue.values()):
        # Nothing is sent without asking: what waited when pinfold stopped goes into the prompt.
        draft = await asyncio.to_thread(drafts.load, folder)
        texts = [*(prompt.text for prompt in waited), draft.text]
        pastes = [paste for prompt in waited for paste in slices(prompt.text, prompt.pasted)]
        joined = "\n\n".join(text for text in texts if text)
        await asyncio.to_thread(drafts.save, folder, joined, (*pastes, *draft.pasted))
        await record.append(*(PromptUnqueued(id=k, reason="edited") for k in tuple(state.queue)))
    if state.turn_open:
        await record.append(
            TurnFinished(turn=state.turn, state="interrupted", reason="pinfold stopped")
        )
