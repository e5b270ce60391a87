"""All servers of a session."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from pinfold.mcp.definition import Definition
from pinfold.mcp.place import ServerPlace
from pinfold.mcp.results import OutcomeBuilder
from pinfold.mcp.server import Server
from pinfold.ports.servers import Ask, ServerState
from pinfold.ports.tool import ToolError, ToolOutcome


class McpServers:
    """`ports.servers.Servers`, over the SDK."""

    def __init__(
        self,
        definitions: Sequence[Definition],
        place: ServerPlace,
        broken: Mapping[str, str] | None = None,
    ) -> None:
        """`broken` says by name why others can't be used."""
        self._place = place
        self._broken = {
            name: ServerState(name, "failed", why) for name, why in (broken or {}).items()
        }
        self._listeners: list[Callable[[str], None]] = []
        self._servers = {one.name: Server(one, place, self._tell) for one in definitions}

    def names(self) -> Sequence[str]:
        return (*self._servers, *(self._broken.keys() - self._servers.keys()))

    def state(self, name: str) -> ServerState:
        return self._servers[name].state if name in self._servers else self._broken[name]

    def known(self, name: str) -> ServerState | None:
        """Blocking."""
        return self._servers[name].known() if name in self._servers else None

    def on_change(self, callback: Callable[[str], None]) -> Callable[[], None]:
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback)

    def _tell(self, name: str) -> None:
        for listener in tuple(self._listeners):
            listener(name)

    async def start(self, name: str) -> None:
        if name in self._servers:
            await self._servers[name].start()
        else:
            self._tell(name)

    async def stop(self, name: str) -> None:
        if name in self._servers:
            await self._servers[name].stop()

    async def restart(self, name: str) -> None:
        await self.stop(name)
        if name in self._servers:
            await self._servers[name].start(again=True)
        else:
            self._tell(name)

    async def answer(self, name: str, *, yes: bool) -> None:
        if name in self._servers:
            self._servers[name].answer(yes=yes)

    async def remember_refused(self, name: str, tools: Sequence[str]) -> None:
        if name in self._servers:
            await asyncio.to_thread(self._servers[name].remember_refused, tools)

    async def sign_in(self, name: str, show: Callable[[str], None]) -> str:
        return await self._server(name).sign_in(show)

    async def settled(self, name: str) -> ServerState:
        """Its state, once it is ready, waits for an answer, or has failed."""
        if name in self._servers:
            await self._servers[name].settled()
        return self.state(name)

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any],
        on_progress: Callable[[str], None],
        ask: Ask | None = None,
    ) -> ToolOutcome:
        found = await self._server(server).call(tool, arguments, on_progress, ask)
        result = OutcomeBuilder()

        def read() -> ToolOutcome:
            for block in found.content:
                result.add(block)
            result.add_structure(found.structured_content)
            ok, name = not found.is_error, f"{server}-{tool}"
            return result.outcome(ok=ok, folder=self._place.folder, name=name)

        return await asyncio.to_thread(read)

    async def read_resource(self, server: str, uri: str) -> ToolOutcome:
        found = await self._server(server).doing(
            lambda connection, seconds: connection.read_resource(uri, seconds)
        )
        result = OutcomeBuilder()

        def read() -> ToolOutcome:
            for one in found.contents:
                result.add_resource(one)
            return result.outcome(ok=True, folder=self._place.folder, name=f"{server}-resource")

        return await asyncio.to_thread(read)

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> ToolOutcome:
        found = await self._server(server).doing(
            lambda connection, seconds: connection.prompt(name, arguments, seconds)
        )
        result = OutcomeBuilder()

        def read() -> ToolOutcome:
            for message in found.messages:
                result.add(message.content, "Assistant: " if message.role == "assistant" else "")
            return result.outcome(ok=True, folder=self._place.folder, name=f"{server}-prompt")

        return await asyncio.to_thread(read)

    @asynccontextmanager
    async def apart(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as all_of_them:
            for server in self._servers.values():
                await all_of_them.enter_async_context(server.apart())
            yield

    async def aclose(self) -> None:
        await asyncio.gather(*(server.stop() for server in self._servers.values()))

    def _server(self, name: str) -> Server:
        if name not in self._servers:
            raise ToolError(f"There is no server {name!r}.")
        return self._servers[name]
