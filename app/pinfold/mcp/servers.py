"""All servers of a session."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from pinfold.mcp.definition import Definition
from pinfold.mcp.place import ServerPlace
from pinfold.mcp.results import of_call, of_prompt, of_resource
from pinfold.mcp.server import McpServer
from pinfold.ports.servers import Ask, ServerState
from pinfold.ports.tool import ToolError, ToolOutcome
from pinfold.sanitize import one_line

MOST_PROGRESS = 500
"""Characters of one message of progress."""


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
        self._servers = {one.name: McpServer(one, place, self._tell) for one in definitions}

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
        async def report(progress: float, total: float | None, message: str | None) -> None:
            share = f"{progress:g}/{total:g}" if total else f"{progress:g}"
            on_progress(f"{share} {one_line((message or '')[:MOST_PROGRESS])}".rstrip() + "\n")

        running = self._server(server)
        connection = await running.ready()
        if not any(tool == offered.name for offered in running.state.tools):
            raise ToolError(f'The server "{server}" has no tool {tool!r}.')
        answer = await connection.request(
            lambda client: client.call_tool(tool, dict(arguments), progress_callback=report), ask
        )
        return await asyncio.to_thread(of_call, answer, self._place.folder, f"{server}-{tool}")

    async def read_resource(self, server: str, uri: str) -> ToolOutcome:
        connection = await self._server(server).ready()
        answer = await connection.request(lambda client: client.read_resource(uri))
        folder = self._place.folder
        return await asyncio.to_thread(of_resource, answer, folder, f"{server}-resource")

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> ToolOutcome:
        connection = await self._server(server).ready()
        answer = await connection.request(lambda client: client.get_prompt(name, dict(arguments)))
        return await asyncio.to_thread(of_prompt, answer, self._place.folder, f"{server}-prompt")

    @asynccontextmanager
    async def apart(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as all_of_them:
            for server in self._servers.values():
                await all_of_them.enter_async_context(server.apart())
            yield

    async def aclose(self) -> None:
        await asyncio.gather(*(server.stop() for server in self._servers.values()))

    def _server(self, name: str) -> McpServer:
        if name not in self._servers:
            raise ToolError(f"There is no server {name!r}.")
        return self._servers[name]
