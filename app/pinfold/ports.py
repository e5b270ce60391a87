"""What the core asks of the outside: models, tools, the user's consent, the clock.

Error tree of a provider:

    ProviderError
    ├── RateLimited           wait `retry_after` seconds, try again
    ├── Overloaded            5xx or "overloaded": back off, try again
    ├── NetworkError          no connection, or it broke: back off, try again
    ├── TimedOut
    │   ├── ConnectTimedOut
    │   ├── FirstByteTimedOut
    │   └── IdleTimedOut      the stream went silent
    ├── MalformedStream       the answer was not what the wire API promises
    ├── AuthenticationFailed
    ├── ContextOverflow       the request does not fit the model's window, or another limit
    ├── ContentRefused        the provider's filter said no
    ├── RequestRejected       any other 4xx: wrong model name, bad parameter
    └── NoSuchModel           the model or provider that was asked for is not there
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from msgspec import Struct, field

from pinfold.rollout.acts import ToolKind
from pinfold.rollout.events import (
    Context,
    Data,
    MemoryCited,
    MemoryFile,
    MemoryUsed,
    ToolSchema,
    Usage,
)
from pinfold.rollout.items import Image, Item

# Models

WindowSource = Literal["config", "server", "table", "assumed", "learned"]
"""`learned`: from a request that the server refused."""
DOUBTFUL: tuple[WindowSource, ...] = ("assumed", "learned")
"""Sources that nobody vouches for."""


class ModelInfo(Struct, frozen=True):
    """A model as the shell knows it."""

    name: str
    provider: str
    context_window: int
    """Tokens."""
    window_source: WindowSource
    max_output: int = 16_384
    """Tokens that one reply may have."""
    tools: bool = True
    encoding: str = "o200k_base"
    """The tiktoken encoding that counts for it, or the nearest one."""
    vision: bool = True
    """Whether it takes pictures; where it doesn't, a line of text stands for each."""

    @property
    def doubtful_window(self) -> str:
        """Where the window comes from, if nobody vouches for it."""
        return self.window_source if self.window_source in DOUBTFUL else ""


class Request(Struct, frozen=True):
    """One request to a model: context, then window."""

    model: ModelInfo
    context: Context
    items: tuple[Item, ...]
    reasoning_effort: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cache_key: str = ""
    """The same for requests that begin alike; a server finds its cache of them by it."""
    schema: Mapping[str, Any] | None = None
    """A JSON schema that the reply obeys, where the server can make it."""
    max_output: int | None = None
    """Tokens that the reply may have, where that is less than the model's; with 1 a server
    generates nothing, or as little as it can, and its prompt cache is warm."""
    text_only: bool = False
    """Whether calls in the reply would be dropped. They are forbidden where the provider's prompt
    cache outlasts that; the tools stay for its sake."""


class TextDelta(Struct, frozen=True):
    text: str


class ReasoningDelta(Struct, frozen=True):
    text: str


class CallDelta(Struct, frozen=True):
    """A piece of a tool call; `index` tells parallel calls apart within one response."""

    index: int
    name: str
    arguments: str


class PartDone(Struct, frozen=True):
    """A whole item of the response. It is journalled before anything acts on it."""

    kind: Literal["assistant", "reasoning", "tool_call"]
    content: str
    call_id: str | None = None
    name: str | None = None
    foreign_id: str | None = None
    opaque: dict[str, Any] | None = None


class ResponseDone(Struct, frozen=True):
    """The end of a response that came whole."""

    usage: Usage | None
    stop: Literal["stop", "tool_calls", "length"]


class Progress(Struct, frozen=True):
    """The model works and has no text yet; `done` is in [0, 1] where it is known."""

    note: str
    done: float | None = None


Delta = TextDelta | ReasoningDelta | CallDelta | PartDone | ResponseDone | Progress


class Compacted(Struct, frozen=True):
    """What a server's own compaction left of a window."""

    opaque: dict[str, Any]
    """The compaction item, for that provider and model alone; nobody else can read it."""
    usage: Usage | None = None


class Provider(Protocol):
    """A source of responses."""

    name: str

    async def warm(self) -> None:
        """Load what the first request needs, before there is one. Raises `ProviderError`."""
        ...

    def stream(self, request: Request) -> AsyncIterator[Delta]:
        """The response, piece by piece, ended by `ResponseDone`. Raises `ProviderError`."""
        ...

    async def count(self, request: Request) -> int | None:
        """Input tokens of the request as the server counts them; None where it can't."""
        ...

    async def compact(self, request: Request) -> "Compacted":
        """The window of the request as the server compacts it.

        Raises `RequestRejected` where it has no endpoint for that, and `ProviderError`.
        """
        ...

    async def close(self) -> None: ...


class ProviderError(Exception):
    """A model request failed; `str()` is a plain sentence for the user."""

    retryable: ClassVar[bool] = False

    def __init__(
        self, message: str, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        """Seconds that the server asked to wait."""


class NoSuchModel(ProviderError):
    """What the user asked for by name is not there, or cannot be used as it is set up."""


class RateLimited(ProviderError):
    retryable = True


class Overloaded(ProviderError):
    retryable = True


class NetworkError(ProviderError):
    retryable = True


class TimedOut(ProviderError):
    retryable = True


class ConnectTimedOut(TimedOut):
    pass


class FirstByteTimedOut(TimedOut):
    pass


class IdleTimedOut(TimedOut):
    pass


class MalformedStream(ProviderError):
    retryable = True


class AuthenticationFailed(ProviderError):
    pass


class ContextOverflow(ProviderError):
    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        limit: int | None = None,
        tokens: int | None = None,
        of_window: bool = True,
    ) -> None:
        super().__init__(message, status=status)
        self.limit = limit
        """The model's context window, where the server tells it."""
        self.tokens = tokens
        """Tokens of the request, where the server tells them."""
        self.of_window = of_window
        """Whether it is the model's window that is too small, not a limit of bytes or of a
        minute's tokens."""


class ContentRefused(ProviderError):
    pass


class RequestRejected(ProviderError):
    pass


class Summarizer(Protocol):
    """A model that writes about what it is given to read."""

    @property
    def model(self) -> ModelInfo: ...

    def room(self, max_tokens: int) -> int:
        """Tokens that instructions and text may have, where the answer may have `max_tokens`."""
        ...

    def count(self, text: str) -> int:
        """Tokens of a text, with what the gauge has learned of this model."""
        ...

    async def __call__(
        self,
        instructions: str,
        text: str,
        max_tokens: int,
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> str:
        """What the model answers; with `schema`, JSON that obeys it where the server can do that.

        It has waited and tried again where that could help. Raises `ContextOverflow`,
        `ProviderError`.
        """
        ...

    def conversation_room(self, items: Sequence[Item], instruction: str) -> int:
        """Tokens that an answer to `instruction` may have behind the live conversation, of which
        `items` are what stands in the window; 0 where the model is not that of the session."""
        ...

    async def in_conversation(
        self, items: Sequence[Item], instruction: str, max_tokens: int
    ) -> str:
        """What the model answers to `instruction` behind the live conversation: a request as the
        session's own, so that the provider's prompt cache pays for the reading.

        Raises as a call does.
        """
        ...

    async def compacted(self, items: Sequence[Item]) -> Compacted:
        """The provider's own compaction of a window. Raises `RequestRejected`, `ProviderError`."""
        ...

    def step(self, name: str, done: float) -> None:
        """Tell the user where the work stands; `done` is in [0, 1]."""
        ...


# Tools


class Observation(Struct, frozen=True):
    """What a tool saw or did, as the host measured it (see `events.ArtifactObserved`)."""

    uri: str
    kind: Literal["file", "command", "tool_output"]
    op: Literal["read", "create", "update", "delete", "run", "list"]
    hash: str | None = None
    backup: str | None = None


class Review(Struct, frozen=True):
    """What a call would do, worked out before it is allowed to. Nothing has happened yet."""

    access: Literal["read", "write", "command", "web"]
    title: str
    """One line: `edit app/x.py`, `$ pytest -q`."""
    paths: tuple[Path, ...] = ()
    """Resolved paths that it would touch, symlinks followed."""
    command: str | None = None
    outside: str = ""
    """Why the command should run outside its sandbox; empty where it should not."""
    diff: str | None = None
    """Unified diff of what it would change."""
    origin: str = ""
    """The scheme, host and port that it would fetch from, where the user is to allow that."""


class ToolOutcome(Struct, frozen=True):
    """What a call came to."""

    output: str
    """What the model reads."""
    ok: bool = True
    observations: tuple[Observation, ...] = ()
    detail: Mapping[str, Any] = field(default_factory=dict)
    """For the screen: exit_code, seconds, diff, path, spill ..."""
    events: tuple[Data, ...] = ()
    """What it leads to in the journal, behind its result."""
    images: tuple[Image, ...] = ()
    """Pictures that the model sees with the output."""


class Sandbox(Struct, frozen=True):
    """How far commands reach. What is no part of it is read, but not written."""

    kind: Literal["bubblewrap", "landlock", "seatbelt"]
    roots: tuple[Path, ...]
    """Resolved folders to work in, the workspace first."""
    scratch: Path
    """A folder of the session: what takes the place of `/tmp`, caches, what was set aside."""
    writes: bool = True
    """Whether the roots may be written; where not, nothing may."""
    network: bool = False
    hidden: tuple[Path, ...] = ()
    """Besides the usual secrets."""
    readable: tuple[Path, ...] = ()
    """Folders in what is hidden that stay readable."""


class ToolContext(Struct, frozen=True):
    """Where a tool works."""

    workspace: Path
    """The resolved working directory."""
    folder: Path
    """The session's folder: whole outputs under `outputs/`, bytes before edits under `blobs/`."""
    call_id: str
    on_output: Callable[[str], None]
    """Takes live output as it comes."""
    sandbox: Sandbox | None = None
    """Where commands run; None is right on the machine."""
    max_output: int = 16_000
    """Characters that the model may see of an output."""
    max_page: int = 64_000
    """The same of a file that is read page by page."""


class ToolError(Exception):
    """A call cannot be done; `str()` tells the model why, so that it can do better."""


class Tool(Protocol):
    """Something the agent may do. `arguments` is the JSON text that the model wrote."""

    schema: ToolSchema
    kind: ToolKind
    """What its calls do, also for whoever looks back on them."""
    read_only: bool = False
    """Whether its calls change nothing, so that those whose review says so, too, need no consent in
    the workspace."""
    parallel: bool = False
    """Whether neighbouring calls may run at the same time."""
    bodies: tuple[str, ...] = ()
    """Arguments that hold text of files: what a mask takes from a call."""
    editable: str = ""
    """The argument that a user edits before they allow a call; without one, all of them as JSON."""
    pages: bool = False
    """Whether a long output comes in pages, so that none is cut."""
    searches: bool = False
    """Whether it only searches the files that it reads."""
    quiet: bool = False
    """Whether its output is for the model, more than for the user."""

    def names(self, arguments: str) -> tuple[str, ...]:  # noqa: ARG002
        """Files that the call is to change, as the arguments name them."""
        return ()

    def review(self, arguments: str, context: ToolContext) -> Review:
        """What the call would do. Raises `ToolError` where it can't be done at all."""
        ...

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        """Do it. Cancelling ends it at once and leaves no process behind. Raises `ToolError`."""
        ...


class History(Protocol):
    """The items of a session, in the window or not."""

    def item(self, n: int) -> Item | None:
        """Any item of the session."""
        ...

    def partner(self, n: int) -> int | None:
        """The result of call `n`, or the call of result `n`."""
        ...

    def hidden(self) -> Sequence[int]:
        """Items that the model does not see in full: folded, masked or archived; oldest first."""
        ...


# Consent


class Question(Struct, frozen=True):
    """A call that needs the user's word, and why."""

    call_id: str
    tool: str
    arguments: str
    review: Review
    reason: str
    prefix: str | None = None
    """What "always" would allow: the first words of commands, or a whole one."""
    exact: bool = False
    """Whether it is this command and no other."""
    outside: bool = False
    """Whether a yes lets the command out of its sandbox."""
    network: bool = False
    """Whether it may have the network in its sandbox instead."""
    editable: str = ""
    """The argument that the user would edit; without one, all of them."""
    folders: tuple[str, ...] = ()
    """Where "always" would allow edits of files that nothing names."""


class Decision(Struct, frozen=True):
    """The user's word on a call."""

    verdict: Literal["yes", "no", "always", "policy"]
    """`policy` is a no where nobody could be asked."""
    note: str = ""
    """What the user said to the model with a no; with `policy`, the reason."""
    arguments: str | None = None
    """Changed arguments, if the user edited the call."""
    network: bool = False
    """A yes to the network in the sandbox, and to nothing else."""
    pasted: tuple[tuple[int, int], ...] = ()
    """Spans of a no's `note` that the user did not type."""


class Approver(Protocol):
    async def __call__(self, question: Question) -> Decision: ...


# Time


class Cut(Struct, frozen=True):
    """A reply without the block in which it cites memories."""

    text: str
    block: str
    cited: tuple[MemoryCited, ...] = ()
    sessions: tuple[str, ...] = ()
    """Ids of sessions, or how they begin, as the model wrote them."""


class MemoryPort(Protocol):
    """What earlier sessions learned. What raises `MemoryFailure` blocks: call it in a thread."""

    @property
    def folder(self) -> Path:
        """Where the files of memories lie; tools may read there unasked."""
        ...

    def front(self, cwd: Path, most: int, count: Callable[[str], int]) -> str:
        """What a session in `cwd` is told, with at most so many tokens of memories; empty where
        there is nothing. Raises `MemoryFailure`."""
        ...

    def cut(self, reply: str) -> Cut | None:
        """A reply without its citations; None where it has none."""
        ...

    def shown(self, streamed: str) -> int:
        """How many characters of a reply under way are surely none of its citations."""
        ...

    def cited(self, cut: Cut) -> MemoryUsed:
        """What the citations of a reply come to. Raises `MemoryFailure`."""
        ...

    def kind(self, path: Path) -> tuple[MemoryFile, str] | None:
        """What a file of memories is, and its path in their folder; None for any other file."""
        ...

    def count_use(self, sessions: Sequence[str], at: datetime) -> None:
        """Memories of these sessions were used. Raises `MemoryFailure`."""
        ...


class MemoryFailure(Exception):
    """Memories can't be read or counted; `str()` is a plain sentence for the user."""


class Clock(Protocol):
    def now(self) -> datetime:
        """UTC."""
        ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...
