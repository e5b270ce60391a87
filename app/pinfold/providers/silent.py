"""A stand-in where no model is to be called."""

from collections.abc import AsyncGenerator

from pinfold.ports.errors import RequestRejected
from pinfold.ports.provider import Compacted, Delta, Request


class Silent:
    """A `Provider` that refuses every request."""

    name = "replay"

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:  # noqa: ARG002
        """Raises `RequestRejected`."""
        raise RequestRejected("This is a recording: no model is called.")
        yield  # makes it a generator

    async def warm(self) -> None:
        """There is nothing to load."""

    async def count(self, request: Request) -> int | None:  # noqa: ARG002
        """There is no server that could."""
        return None

    async def compact(self, request: Request) -> Compacted:  # noqa: ARG002
        """Raises `RequestRejected`."""
        raise RequestRejected("This is a recording: no model is called.")

    async def close(self) -> None:
        """Nothing is held open."""
