"""The APIs that endpoints speak: what a request of each looks like, and how its answer is read."""

from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec import Struct

from pinfold.ports.provider import Delta, Request
from pinfold.providers.bodies import Body, chat_body, responses_body
from pinfold.providers.chat_stream import ChatStream
from pinfold.providers.errors import Server
from pinfold.providers.responses_stream import ResponsesStream
from pinfold.settings import WireApi


class Stream(Protocol):
    done: bool

    def feed(self, data: bytes) -> list[Delta]: ...
    def end(self) -> list[Delta]: ...


class Wire(Struct, frozen=True):
    path: str
    body: Callable[[Request, str], Body]
    """Of a request, for an endpoint at that address. Raises `wire.atoms.BrokenPair`."""
    stream: Callable[[Server], Stream]
    counts: bool = False
    """Whether endpoints count, wherever they are."""
    compacts: bool = False
    """Whether endpoints may compact."""


WIRES: Mapping[WireApi, Wire] = {
    "chat": Wire("/chat/completions", chat_body, ChatStream),
    "responses": Wire("/responses", responses_body, ResponsesStream, counts=True, compacts=True),
}
