"""Events: the lines of a rollout. Typed, frozen, told apart by `type`.

A type that this version does not know is `Unknown`; the raw line stays what it was.
"""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct, field

from pinfold.rollout import race_events
from pinfold.rollout.context import Context
from pinfold.rollout.data import Data as Data  # noqa: PLC0414  others take it from here
from pinfold.rollout.items import Form, Item
from pinfold.rollout.memory import Memory, MemoryCited, MemoryFile
from pinfold.rollout.values import AdoptedFrom, Compaction, CoreStatement, PlanBase, Sizes, Usage

SCHEMA = 1
"""The number in the first event. A reader refuses a larger one."""


class SessionStarted(Data, frozen=True, kw_only=True):
    schema: int
    id: str
    cwd: str
    version: str
    forked_from: str | None = None
    """`<session>:<n>`, the parent and the last item that was copied."""
    adopted: AdoptedFrom | None = None
    source: str = ""
    """What began it: `shell`, `exec`, `replay`, `internal` (nobody talks to it), `adopted`, `agent`
    (another session). A fork keeps its parent's; journals of older versions do not say."""
    parent: str | None = None
    """The id of the session that started this one as an agent."""

    @property
    def begun_by(self) -> str:
        """The source, which older versions only made in the shell or by adopting."""
        return self.source or ("adopted" if self.adopted else "shell")


class ContextSet(Data, frozen=True, kw_only=True):
    hash: str
    context: Context


class ModelChanged(Data, frozen=True, kw_only=True):
    provider: str
    model: str
    context_window: int
    window_source: str
    reason: str = ""
    effort: str = ""
    """How hard it is told to think; empty: as it does by itself."""


class TurnStarted(Data, frozen=True, kw_only=True):
    turn: int


class TurnFinished(Data, frozen=True, kw_only=True):
    turn: int
    state: Literal["done", "waiting", "interrupted", "failed"]
    reason: str = ""


class ItemAdded(Data, frozen=True, kw_only=True):
    item: Item


class RequestFinished(Data, frozen=True, kw_only=True):
    purpose: Literal["turn", "prewarm", "compaction", "memory"]
    provider: str
    model: str
    response: int
    through_seq: int
    """The last event that the request had seen."""
    estimate: int
    """Input tokens as counted here, not calibrated."""
    status: str
    """`ok`, `interrupted` or the class name of the error."""
    error: str = ""
    usage: Usage | None = None
    seconds: float = 0.0
    attempt: int = 1
    window_id: str = ""
    """`<session>:<generation>`."""
    compaction: Compaction | None = None
    """What it was for, where the purpose is `compaction`."""


class CompactionFinished(Data, frozen=True, kw_only=True):
    """How an attempt to compact ended; where it was applied, `window_replaced` is before."""

    compaction: Compaction
    status: Literal["applied", "failed", "stopped", "cancelled"]
    """`stopped`: by a hook."""
    error: str = ""
    seconds: float = 0.0
    tokens: Sizes | None = None


class ArtifactObserved(Data, frozen=True, kw_only=True):
    uri: str
    """A path relative to the working directory (absolute outside it), `cmd:...` or `call:<id>`."""
    kind: Literal["file", "command", "tool_output"]
    op: Literal["read", "create", "update", "delete", "run", "list"]
    hash: str | None = None
    """Git blob hash, computed by the host; none where unknown."""
    item: int | None = None
    backup: str | None = None
    """Hash under which the bytes before an edit are in the session's `blobs/`."""


class ApprovalDecided(Data, frozen=True, kw_only=True):
    call_id: str
    verdict: Literal["yes", "no", "always", "policy"]
    reason: str = ""
    prefix: str | None = None
    """What `always` allows from now on: a command, or the first words of one that only reads."""
    arguments: str | None = None
    """The arguments as the user changed them."""
    way: Literal["", "network", "outside"] = ""
    """What the user let the command have beyond its sandbox."""
    asked: str = ""
    """Why it was asked; with `policy`, why it would have been where the call ran anyway."""
    folders: tuple[str, ...] = ()
    """Where `always` allows edits of files that nothing names."""
    edits: bool = False
    """Whether `always` allows plain edits, until the session is closed or its mode changes."""


class JobStarted(Data, frozen=True, kw_only=True):
    """A command runs in the background."""

    job: int
    command: str
    output: str
    """The path of the file that it goes to."""


KILLED = "killed"
"""By the model, which knows it."""


class JobEnded(Data, frozen=True, kw_only=True):
    job: int
    exit_code: int | None = None
    """None where it was ended."""
    reason: str = ""
    """Why it was ended: `KILLED`, or with what, or by whom."""
    seconds: float = 0.0


class ChildStarted(Data, frozen=True, kw_only=True):
    """An agent begins: a session of its own, in this one's folder under `agents/`."""

    child: int
    """Counted from 1; people and models know it as `a1`."""
    session: str
    agent: str
    """The name of its definition; empty for one without."""
    description: str
    call_id: str
    background: bool = False
    worktree: str = ""
    """The name of its Git worktree; empty if it works in its parent's folder."""
    race: int = 0
    """The race that it is a part of; 0 for none."""
    model: str = ""
    """The model that the user gave it; empty for the one that it would have anyway."""


class ChildFinished(Data, frozen=True, kw_only=True):
    child: int
    state: Literal["done", "waiting", "interrupted", "failed"]
    reason: str = ""
    items: int = 0
    files: tuple[str, ...] = ()
    """That it changed."""
    models: dict[str, Usage] = field(default_factory=dict)
    """Tokens of all its requests, by `provider/model`."""
    seconds: float = 0.0
    answer: str = ""
    """Its last reply, where no result of a call holds it: an agent in the background."""
    worktree: str = ""
    """Its worktree, kept with what it changed; empty if removed."""


class MemoryApplied(Data, frozen=True, kw_only=True):
    """What a model proposed to remember, accepted."""

    memory: Memory


class MemoryRefused(Data, frozen=True, kw_only=True):
    payload: str
    """The proposal as the model wrote it, cut where it is long; its call holds the whole."""
    reason: str


class MemoryUsed(Data, frozen=True, kw_only=True):
    """A reply cited memories, or a tool read a file of them; usage counts are made of these."""

    item: int
    """The reply, or the result of the tool."""
    via: Literal["citation", "read"]
    cited: tuple[MemoryCited, ...] = ()
    sources: tuple[str, ...] = ()
    """`session#item` of the lines cited."""
    sessions: tuple[str, ...] = ()
    """Ids of the sessions whose memories were used."""
    read: tuple[tuple[MemoryFile, str], ...] = ()
    """The files that a tool read: what each is, and its path below the folder of memories."""


Pin = int | str
"""An item's number, or a glob over the files that items concern."""


class PinsChanged(Data, frozen=True, kw_only=True):
    add: tuple[Pin, ...] = ()
    remove: tuple[Pin, ...] = ()
    items: tuple[tuple[int, Form], ...] = ()
    """Items of the window that take another form with it: what is pinned comes back in full."""
    undoes: int | None = None
    """The seq of the event that this one reverses."""


class ItemsMarked(Data, frozen=True, kw_only=True):
    """Items of the window take another form."""

    items: tuple[tuple[int, Form], ...]
    undoes: int | None = None
    adopted: bool = False
    """Another tool did it, before the session was adopted."""


class GoalSet(Data, frozen=True, kw_only=True):
    text: str
    """In the user's words; empty goes back to the first request."""


class CoreChanged(Data, frozen=True, kw_only=True):
    """The user changed the protected core by hand; the goal is `GoalSet`."""

    add: tuple[CoreStatement, ...] = ()
    remove: tuple[str, ...] = ()
    """Texts that are removed."""


class CoreSuggested(Data, frozen=True, kw_only=True):
    """What an adopted session had in its core; it does not count until it is confirmed."""

    add: tuple[CoreStatement, ...]


class WindowReplaced(Data, frozen=True, kw_only=True):
    """The complete next window, in order."""

    generation: int
    base: PlanBase
    reason: str
    """`threshold`, `overflow`, `manual`, `model`, `undo`, `restore`, `kept` (items that came back),
    `adopted`, `rewind`."""
    window: tuple[tuple[int, Form], ...]
    strategy: str = ""
    inserted: tuple[Item, ...] = ()
    """Items that no `item_added` brought; they are in `window` too."""
    why: dict[int, str] = field(default_factory=dict)
    tokens: Sizes | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    undoes: int | None = None


class WindowCounted(Data, frozen=True, kw_only=True):
    """The provider's own count of the request that would come next."""

    provider: str
    model: str
    through_seq: int
    estimate: int
    tokens: int


class PromptQueued(Data, frozen=True, kw_only=True):
    id: int
    text: str
    pasted: tuple[tuple[int, int], ...] = ()
    """Spans of `text` that the user did not type."""
    steers: bool = False
    """Whether the model gets it during the turn, after the next tool results."""
    expands: bool = False  # whether it calls a skill or a command


class PromptUnqueued(Data, frozen=True, kw_only=True):
    id: int
    reason: Literal["sent", "removed", "edited"]


class Unknown(Data, frozen=True, kw_only=True):
    """An event of a type that this version does not know."""

    type: str
    raw: bytes


TYPES: dict[str, type[Data]] = {
    "session_started": SessionStarted,
    "context_set": ContextSet,
    "model_changed": ModelChanged,
    "turn_started": TurnStarted,
    "turn_finished": TurnFinished,
    "item_added": ItemAdded,
    "request_finished": RequestFinished,
    "artifact_observed": ArtifactObserved,
    "memory_applied": MemoryApplied,
    "memory_refused": MemoryRefused,
    "memory_used": MemoryUsed,
    "approval_decided": ApprovalDecided,
    "job_started": JobStarted,
    "job_ended": JobEnded,
    "child_started": ChildStarted,
    "child_finished": ChildFinished,
    **race_events.TYPES,
    "pins_changed": PinsChanged,
    "items_marked": ItemsMarked,
    "goal_set": GoalSet,
    "core_changed": CoreChanged,
    "core_suggested": CoreSuggested,
    "window_replaced": WindowReplaced,
    "window_counted": WindowCounted,
    "compaction_finished": CompactionFinished,
    "prompt_queued": PromptQueued,
    "prompt_unqueued": PromptUnqueued,
}
NAMES = {cls: name for name, cls in TYPES.items()}


class Event(Struct, frozen=True):
    """One line of the rollout."""

    seq: int
    ts: datetime
    data: Data
    offset: int = 0
    """Where its line begins, for one that a journal has read or written."""
    length: int = 0
    """Bytes of that line, without its line end; 0 where there is none."""
