"""The wires: the APIs that endpoints speak.

A wire is a folder beside this file whose `__init__` has a `WIRE`, and its name in
`settings.WireApi`. `default_api` below knows which one an endpoint speaks; nothing else tells
wires apart.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from msgspec import Struct

from pinfold.ports.errors import MalformedStream, NetworkError
from pinfold.ports.provider import Compacted, Delta, Request
from pinfold.rollout.context import ToolSchema
from pinfold.settings import WireApi
from pinfold.wire.caching import is_openai
from pinfold.wire.errors import ApiServer
from pinfold.wire.optional import Optional

Body = dict[str, Any]

LEAST_OUTPUT = 16
"""Tokens of output below which OpenAI and the Responses API refuse a limit."""
SCHEMA_NAME = "reply"


Event = TypeVar("Event")


class UsageDetails(Struct):
    """Tokens in a report of usage, as every wire names them."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


class Stream(Generic[Event]):
    """Takes the data of each event of an answer; `done` once the response is whole."""

    name: ClassVar[str]
    """As in `a chat stream`."""
    decoder: ClassVar[msgspec.json.Decoder[Any]]
    """Of an event."""

    def __init__(self, server: ApiServer) -> None:
        self.done = False
        self.server = server

    def feed(self, data: bytes) -> list[Delta]:
        """The deltas of one event; none after the end. Raises `ProviderError`."""
        if self.done:
            return []
        if data.startswith(b"[DONE]"):
            return self.close()
        try:
            event = self.decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            # A ValidationError is a DecodeError: JSON, yet no event.
            raise MalformedStream(
                f"{self.server.host} sent something that is not a {self.name}: {exc}"
            ) from exc
        return self.take(event)

    def take(self, event: Event) -> list[Delta]:
        """The deltas of one event. Raises `ProviderError`."""
        raise NotImplementedError

    def close(self) -> list[Delta]:
        """`[DONE]` came. Raises `ProviderError` where the response is not whole."""
        return []

    def end(self) -> list[Delta]:
        """The bytes ended. Raises `ProviderError` where the response had not."""
        raise NetworkError(f"The answer from {self.server.host} broke off")


class Overhead(Struct, frozen=True):
    """Tokens that a wire puts around the text of a request, and what is counted of the rest.

    That is not published: the figures are fitted to what servers report.
    """

    assistant: int
    """Around the model's own message: models that reason name its channel too."""
    call: int
    """Around the name and arguments of a tool call."""
    result: int
    """Around a tool's result."""
    tool: int
    """Around a tool's schema, as the server shows it to the model."""
    tools: int
    """Around all of them."""
    reply: int
    """What makes the model answer, once a request."""
    schema: Callable[[ToolSchema], str]
    """The text of a tool's schema that is counted."""
    readable: str
    """The key of an opaque item that says that its text goes back."""
    sealed: bool
    """Whether encrypted items go back."""
    past_reasoning: bool
    """Whether the reasoning of earlier turns goes back."""


class CountEndpoint(Struct, frozen=True):
    """An endpoint that answers with `input_tokens`."""

    path: str
    fields: frozenset[str]
    """Of the body: it refuses the rest."""
    everywhere: bool = False
    """Whether every server may have it, not those on this machine alone."""


class CompactionEndpoint(Struct, frozen=True):
    """An endpoint that compacts a window."""

    path: str
    fields: frozenset[str]
    """Of the body: it refuses the rest."""
    read: Callable[[object, ApiServer], Compacted]
    """Its answer. Raises `ProviderError`."""


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


class Wire(Struct, frozen=True):
    path: str
    body: Callable[[Request, str], Body]
    """Of a request, for an endpoint at that address. Raises `wire.atoms.BrokenPair`."""
    stream: Callable[[ApiServer], Stream[Any]]
    overhead: Overhead
    optional: Mapping[str, Optional]
    """What requests can do without, by name. What comes later may drop what came in the place of
    something before it."""
    headers: Callable[[str], Mapping[str, str]] = bearer
    """That take the key."""
    counting: CountEndpoint | None = None
    compacting: CompactionEndpoint | None = None
    hosts_tools: bool = False
    """Whether the provider itself may run tools, such as a search."""


def default_api(*, openai: bool) -> WireApi:
    """The API of an endpoint for which the settings name none; `openai`: whether it is OpenAI's."""
    return "responses" if openai else "chat"


@cache
def wire_of(api: WireApi) -> Wire:
    found: Wire = import_module(f"pinfold.wire.{api}").WIRE
    return found


def tool_choice(request: Request, base_url: str) -> Body:
    """Forbids calls where the prompt cache outlasts that. Anthropic's forgets the messages, and
    some local servers leave the tools out of the prompt then."""
    return {"tool_choice": "none"} if request.text_only and is_openai(base_url) else {}
