"""What a session tells those who listen. The screen and `exec` draw on these alone."""

from dataclasses import dataclass
from typing import Literal

from pinfold.ports import Delta
from pinfold.rollout.events import Event

Phase = Literal["idle", "requesting", "streaming", "tools", "approval", "waiting"]


@dataclass(frozen=True, slots=True)
class Appended:
    """An event stands in the journal, durably."""

    event: Event


@dataclass(frozen=True, slots=True)
class Streamed:
    """A piece of the response under way. Never journalled; `Appended` brings the whole item."""

    delta: Delta


@dataclass(frozen=True, slots=True)
class StreamDropped:
    """The pieces streamed since the last item are void: a retry begins anew."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    call_id: str
    name: str
    title: str


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """Live output of a running call."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class PhaseChanged:
    phase: Phase


@dataclass(frozen=True, slots=True)
class Retrying:
    """A request failed and will be sent again at `at` (the clock's monotonic seconds)."""

    reason: str
    attempt: int
    at: float


@dataclass(frozen=True, slots=True)
class Told:
    """A plain message for the user; not part of the window."""

    text: str
    level: Literal["info", "warning", "error"] = "info"


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """The prompts that wait for the turn's end, oldest first: (id, text)."""

    prompts: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class PromptReturned:
    """Text that was not sent after all: it goes back into the prompt, before what stands there."""

    text: str


Update = (
    Appended
    | Streamed
    | StreamDropped
    | ToolStarted
    | ToolOutput
    | PhaseChanged
    | Retrying
    | Told
    | QueueChanged
    | PromptReturned
)
