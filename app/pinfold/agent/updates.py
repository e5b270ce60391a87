"""What a session tells its listeners: the screen and `exec` use nothing else."""

from typing import Literal, NamedTuple

from msgspec import Struct

from pinfold.ports.provider import Delta
from pinfold.rollout.events import Event

Phase = Literal[
    "idle", "requesting", "streaming", "tools", "approval", "question", "waiting", "compacting"
]


class Appended(Struct, frozen=True):
    """An event is in the journal, durably."""

    event: Event


class Streamed(Struct, frozen=True):
    """A piece of the response under way. Never journalled; `Appended` brings the whole item."""

    delta: Delta


class StreamDropped(Struct, frozen=True):
    """The pieces streamed since the last item are void: a retry begins again."""


class ToolStarted(Struct, frozen=True):
    call_id: str
    name: str
    title: str


class ToolOutput(Struct, frozen=True):
    """Live output of a running call."""

    call_id: str
    text: str


class ChildChanged(Struct, frozen=True):
    """An agent started, does something else, or ended."""

    child: int


class ServerChanged(Struct, frozen=True):
    """An MCP server started, ended, changed its lists, or has a question."""

    name: str


class PhaseChanged(Struct, frozen=True):
    phase: Phase


class CompactionProgress(Struct, frozen=True):
    """Where a compaction stands: a step by name, and a share of the work in [0, 1]."""

    step: str
    done: float
    strategy: str = ""


Preparation = Literal["", "preparing", "ready"]
"""Nothing is prepared; a summary is being written in the background; it is there."""


class Prepared(Struct, frozen=True):
    """What the next compaction finds written."""

    state: Preparation


class Retrying(Struct, frozen=True):
    """A request failed and will be sent again at `at` (the clock's monotonic seconds)."""

    reason: str
    attempt: int
    """The one that failed, from 1."""
    at: float
    attempts: int
    """That are made at most."""
    seconds: float
    """Until `at`, when this was told."""


class Told(Struct, frozen=True):
    """A plain message for the user; not part of the window."""

    text: str
    level: Literal["info", "warning", "error"] = "info"
    hint: str = ""
    """What else the screen can show of it, and by which command."""


class WaitingPrompt(NamedTuple):
    """A prompt that was sent while a turn runs."""

    id: int
    text: str
    steers: bool = False
    """Whether it waits for the next tool results, not for the turn's end."""


class QueueChanged(Struct, frozen=True):
    """The prompts that wait, oldest first."""

    prompts: tuple[WaitingPrompt, ...]


class PromptReturned(Struct, frozen=True):
    """Text that was not sent after all: it goes back into the prompt, before what is there."""

    text: str


Update = (
    Appended
    | Streamed
    | StreamDropped
    | ToolStarted
    | ToolOutput
    | ChildChanged
    | ServerChanged
    | PhaseChanged
    | CompactionProgress
    | Prepared
    | Retrying
    | Told
    | QueueChanged
    | PromptReturned
)
