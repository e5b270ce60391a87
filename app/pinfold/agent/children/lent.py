"""A provider that somebody else closes."""

from collections.abc import AsyncIterator

from pinfold.ports.provider import Compacted, Delta, Provider, Request


class Lent:
    """Passes everything on but `close`."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self.name = provider.name

    async def warm(self) -> None:
        await self._provider.warm()

    def stream(self, request: Request) -> AsyncIterator[Delta]:
        return self._provider.stream(request)

    async def count(self, request: Request) -> int | None:
        return await self._provider.count(request)

    async def compact(self, request: Request) -> Compacted:
        return await self._provider.compact(request)

    async def close(self) -> None:
        """Its owner does that."""
