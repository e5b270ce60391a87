"""Items: what the model can see. Plain frozen data, one shape for every provider."""

from typing import Any, Literal

from msgspec import Struct, field

Kind = Literal[
    "user",
    "assistant",
    "reasoning",
    "tool_call",
    "tool_result",
    "checkpoint",
    "summary",
    "compaction",
    "context",
]
State = Literal["complete", "interrupted", "unknown"]
Form = Literal["full", "short", "masked", "placeholder"]
"""How an item is in the window: as it is, with the ends of its body, its body masked, or
folded."""

WRITTEN = frozenset({"assistant", "reasoning", "tool_call", "tool_result"})
"""Kinds that belong to a response; all others are atoms of their own."""
GOAL = "goal"
"""In the detail of an item of kind `context`: what the user set as the goal."""
ABOUT = "about"
"""In the same place, `[subject, digest]`: the subject whose state the item gives, and which
state."""
JOBS = "background commands"
"""A subject: what runs in the background."""
CHILDREN = "agents in the background"
"""A subject: the agents that run."""
CHILD = "agent"
"""In the detail of a context item, the number of the agent whose end it tells."""
FOR_USER = "for_user"
"""In the detail of a checkpoint item, what it tells, in the words of the transcript."""
JOB = "job"
"""In the detail of a context item, the number of the background command whose end it tells."""
SANDBOX = "sandbox"
"""A subject: what may run, and where. Older rollouts have it as a key of the detail."""


class Origin(Struct, frozen=True, omit_defaults=True):
    """Who wrote an item."""

    provider: str = ""
    model: str = ""
    foreign_id: str | None = None
    """The id that the provider or another tool's session gave the item."""


class Image(Struct, frozen=True, omit_defaults=True):
    """A picture that came with an item."""

    media_type: str
    data: str
    """Base64. Empty in a rollout where `hash` names the bytes, and where those are lost."""
    width: int = 0
    height: int = 0
    """Pixels; 0 where the bytes don't tell."""
    hash: str = ""
    """SHA-256 of the bytes, which are in the session's `blobs/`."""


class Item(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing the model can see. `n` is its id and its `#n` on the screen."""

    n: int
    kind: Kind
    content: str = ""
    """Text; for a tool call, its arguments as the model wrote them (JSON)."""
    turn: int = 0
    """The turn it belongs to, counted from 1; 0 is outside any turn."""
    response: int = 0
    """The response it came with or answers, counted from 1: the atom that cuts respect."""
    call_id: str | None = None
    name: str | None = None
    """The tool's name, for calls and results."""
    images: tuple[Image, ...] = ()
    state: State = "complete"
    origin: Origin | None = None
    opaque: dict[str, Any] | None = None
    """The provider's own form of a reasoning or compaction item, returned to it verbatim."""
    detail: dict[str, Any] = field(default_factory=dict)
    """Host-side facts that the model does not see: act, title, ok, exit_code, seconds, diff, spill;
    `edited`, the arguments that the user gave in place of the model's; `host`, the spans of the
    content (start and end, in characters) that the host wrote into it."""
