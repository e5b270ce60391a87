"""MCP servers as a session sees them: what they offer, their state, their calls.

All texts come from the servers and are hostile: clean and cut them before showing them or passing
them to a model.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from pinfold.ports.tool import ToolOutcome, UserReply

Ask = Callable[[str, Sequence[str]], Awaitable[UserReply | None]]
"""Asks the user a question that has choices (any other answer can be typed); None where nobody can
be asked or the user declined. Same as `ToolContext.ask`."""


class ServerTool(Struct, frozen=True):
    """A tool of a server."""

    server: str
    name: str
    title: str = ""
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    """The JSON schema of its arguments."""
    annotations: Mapping[str, Any] = field(default_factory=dict)
    """What the server claims about it: `readOnlyHint`, `destructiveHint` ..."""
    hash: str = ""
    """Of all its texts: name, title, description, schema, annotations."""


class PromptArgument(Struct, frozen=True):
    name: str
    description: str = ""
    required: bool = False


class ServerPrompt(Struct, frozen=True):
    """A prompt that a server offers."""

    name: str
    title: str = ""
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


class ServerResource(Struct, frozen=True):
    """Something that can be read from a server. `uri` may be a template."""

    uri: str
    name: str = ""
    title: str = ""
    description: str = ""
    mime: str = ""
    template: bool = False


class TrustQuestion(Struct, frozen=True):
    """What the user has to answer before a server starts, or before its texts reach a model."""

    server: str
    about: Literal["start", "texts"]
    title: str
    """One sentence: `Start the server "git" of this project?`"""
    text: str
    """Everything that the answer covers, in lines: command, folder, names of variables; or the
    texts of the server."""
    diff: str = ""
    """Unified diff to what was approved before, where something changed."""


class ServerState(Struct, frozen=True):
    """A server's state, and what it is known to offer."""

    name: str
    state: Literal["waiting", "starting", "ready", "failed", "stopped"]
    """`waiting`: for an answer of the user's."""
    why: str = ""
    """One sentence: why it failed, stopped or waits."""
    tools: tuple[ServerTool, ...] = ()
    """Those that the settings leave enabled, in the server's order."""
    instructions: str = ""
    prompts: tuple[ServerPrompt, ...] = ()
    resources: tuple[ServerResource, ...] = ()
    hash: str = ""
    """Of all the texts above; empty where none are known."""
    source: Literal["user", "project"] = "user"
    approved: bool = False
    """Whether the user allowed these texts to reach a model. Nothing else may be used."""
    question: TrustQuestion | None = None
    """What the user has to answer, while it is waiting."""
    unsendable: tuple[str, ...] = ()
    """Provider and hash of the tools whose schemas a provider has refused: `openai 1f0c...`."""
    sign_in: bool = False
    """Whether it failed because the user has to sign in."""


class Servers(Protocol):
    """The servers of a session and its agents. Its methods belong on the event loop."""

    def names(self) -> Sequence[str]:
        """All that are configured and enabled, in a fixed order."""
        ...

    def state(self, name: str) -> ServerState:
        """Its current state. Raises `KeyError`."""
        ...

    def known(self, name: str) -> ServerState | None:
        """What it offered last time, as the user approved it, from the disk; None where it was
        never seen. Read once, before any server answers, so that it stays the same."""
        ...

    def on_change(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Hear the name of each server whose state, lists or question changed. Returns how to
        stop."""
        ...

    async def start(self, name: str) -> None:
        """Start it where it does not run; returns once it is under way. What goes wrong is in its
        state."""
        ...

    async def restart(self, name: str) -> None: ...

    async def stop(self, name: str) -> None: ...

    async def answer(self, name: str, *, yes: bool) -> None:
        """The user's answer to the question that waits; nothing where none does."""
        ...

    async def remember_refused(self, name: str, tools: Sequence[str]) -> None:
        """Add to `ServerState.unsendable` for later sessions."""
        ...

    async def sign_in(self, name: str, show: Callable[[str], None]) -> str:
        """Have the user sign in to it with a browser, and start it again. Only ever because the
        user asked for it. `show` takes the address to open; returns where the tokens are kept.

        Raises `ToolError`.
        """
        ...

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any],
        on_progress: Callable[[str], None],
        ask: Ask | None = None,
    ) -> ToolOutcome:
        """Run a tool; cancelling cancels it at the server. `ask` is for what the server asks
        meanwhile (elicitation); without it that is refused.

        Waits for a server that is starting. A result that the server calls an error is an outcome
        that is not `ok`. Raises `ToolError`.
        """
        ...

    async def read_resource(self, server: str, uri: str) -> ToolOutcome:
        """Text and pictures of a resource. Raises `ToolError`."""
        ...

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> ToolOutcome:
        """Text and pictures of a prompt's messages. Raises `ToolError`."""
        ...

    def apart(self) -> AbstractAsyncContextManager[None]:
        """Around what may change guarded places with the user's consent: servers in a sandbox are
        not blamed for it when they end."""
        ...

    async def aclose(self) -> None:
        """End all of them; no process is left."""
        ...
