"""Tools: what a call would do, where it works, and its outcome."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from pinfold.rollout.acts import ToolKind
from pinfold.rollout.context import ToolSchema
from pinfold.rollout.events import Data
from pinfold.rollout.items import Image, Item


class Observation(Struct, frozen=True):
    """What a tool saw or did, as the host measured it (see `events.ArtifactObserved`)."""

    uri: str
    kind: Literal["file", "command", "tool_output"]
    op: Literal["read", "create", "update", "delete", "run", "list"]
    hash: str | None = None
    backup: str | None = None


SERVERS = "mcp:"
"""Begins the names of servers' tools, where a rule has them."""


class Foreign(Struct, frozen=True):
    """A call of another program's tool: of an MCP server."""

    server: str
    tool: str
    hash: str
    """Of the texts with which the server describes the tool."""
    arguments: str
    """What the tool would get, as indented JSON."""
    claims: str = ""
    """What the server says about the tool, in words: `only reads`."""
    destructive: bool = False
    """Whether the server says that it may destroy something."""

    @property
    def name(self) -> str:
        """As `[approvals] allow` and `deny` have it."""
        return f"{SERVERS}{self.server}/{self.tool}"

    @property
    def consent(self) -> str:
        """What "always" allows: the tool as long as its texts stay the same."""
        return f"{self.name}#{self.hash}"


class Review(Struct, frozen=True):
    """What a call would do, worked out before it is allowed to. Nothing has happened yet."""

    access: Literal["read", "write", "command", "web", "foreign"]
    title: str
    """One line: `edit app/x.py`, `$ pytest -q`."""
    paths: tuple[Path, ...] = ()
    """Resolved paths that it would touch, symlinks followed."""
    command: str | None = None
    background: bool = False
    """Whether the command would run in the background."""
    outside: str = ""
    """Why the command should run outside its sandbox; empty where it should not."""
    diff: str | None = None
    """Unified diff of what it would change."""
    origin: str = ""
    """The scheme, host and port that it would fetch from, where the user is to allow that."""
    foreign: Foreign | None = None
    """The tool of another program that it would call."""


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
    """What commands may reach. All else can be read, not written."""

    kind: Literal["bubblewrap", "landlock", "seatbelt"]
    roots: tuple[Path, ...]
    """Resolved folders to work in, the workspace first."""
    scratch: Path
    """A folder of the session: what replaces `/tmp`, caches, what was set aside."""
    writes: bool = True
    """Whether the roots may be written; where not, nothing may."""
    network: bool = False
    hidden: tuple[Path, ...] = ()
    """Besides the usual secrets."""
    readable: tuple[Path, ...] = ()
    """Folders in what is hidden that stay readable."""


class BackgroundJob(Protocol):
    """A command in the background."""

    @property
    def number(self) -> int: ...

    @property
    def command(self) -> str: ...

    @property
    def path(self) -> Path:
        """The file that its output goes to."""
        ...

    @property
    def runs(self) -> bool: ...

    @property
    def ending(self) -> str:
        """How it ended, for a model; how long it has run, while it does."""
        ...


class BackgroundJobs(Protocol):
    """The background commands of a session."""

    async def start(
        self, command: str, argv: Sequence[str], env: Mapping[str, str], context: "ToolContext"
    ) -> BackgroundJob:
        """Run `argv`, which the user knows as `command`. Raises `ToolError`."""
        ...

    async def output(self, number: int, seconds: float, most: int) -> tuple[BackgroundJob, str]:
        """What it has printed since the last time, at most the last `most` bytes of it, once it
        has ended or so many seconds have passed. Raises `ToolError`."""
        ...

    async def kill(self, number: int) -> BackgroundJob:
        """End it. Raises `ToolError`."""
        ...


class Terminal(Protocol):
    """The user's terminal, lent to a command of the user's own that asks for keys."""

    def terminal_size(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    def take(self, pty: int, shown: bytes, ended: Callable[[], bool]) -> bytes:
        """Connect it with the pseudo-terminal `pty` until that closes or its command has `ended`.

        What was printed meanwhile; `shown` was printed before. Blocks. Raises `OSError`.
        """
        ...


class UserReply(Struct, frozen=True):
    """What the user answered to a question."""

    text: str
    pasted: tuple[tuple[int, int], ...] = ()
    """Spans that the user neither typed nor chose."""


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
    jobs: BackgroundJobs | None = None
    """None where nothing runs in the background."""
    terminal: Terminal | None = None
    """What a command that asks for keys gets; none where nobody is there."""
    ask: Callable[[str, Sequence[str]], Awaitable[UserReply | None]] | None = None
    """Asks the user a question that has choices; gives None where nobody can be asked."""


class ToolError(Exception):
    """A call cannot be done; `str()` tells the model why, so that it can do better."""


class Tool(Protocol):
    """Something the agent may do. `arguments` is the JSON text that the model wrote."""

    schema: ToolSchema
    kind: ToolKind
    """What its calls do; also used to read earlier calls."""
    read_only: bool = False
    """Whether its calls change nothing, so that those whose review says so, too, need no consent in
    the workspace."""
    parallel: bool = False
    """Whether neighbouring calls may run at the same time."""
    in_order: bool = False
    """Whether those begin in the order of their calls."""
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

    @property
    def offered(self) -> bool:
        """Whether the model is told of it."""
        return True

    def names(self, arguments: str) -> tuple[str, ...]:  # noqa: ARG002
        """Files that the call is to change, as the arguments name them."""
        return ()

    def review(self, arguments: str, context: ToolContext) -> Review:
        """What the call would do. Raises `ToolError` where it can't be done at all."""
        ...

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        """Do it. Cancelling ends it at once and leaves no process behind. Raises `ToolError`."""
        ...


class ItemLookup(Protocol):
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
