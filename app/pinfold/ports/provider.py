"""Models: requests, replies, and providers."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from pinfold.rollout.context import Context
from pinfold.rollout.items import Item
from pinfold.rollout.values import Usage

WindowSource = Literal["config", "server", "table", "assumed", "learned"]
"""`learned`: from a request that the server refused."""
DOUBTFUL: tuple[WindowSource, ...] = ("assumed", "learned")
"""Sources that are not reliable."""


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
    """Whether it takes pictures; otherwise a line of text replaces each."""

    @property
    def doubtful_window(self) -> str:
        """The source of the window if it is not reliable; else empty."""
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

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """The response, piece by piece, ended by `ResponseDone`; closing it early closes its
        connection. Raises `ProviderError`."""
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
