"""A running server: the SDK's client over one of our transports."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pinfold import __version__
from pinfold.mcp.definition import Definition
from pinfold.mcp.elicit import answered
from pinfold.mcp.offers import Offer, offer_of
from pinfold.ports.servers import Ask
from pinfold.ports.tool import ToolError
from pinfold.sanitize import one_line
from pinfold.tools.process import RunningCommand

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client._transport import TransportStreams

T = TypeVar("T")
QUIET = 1.0
"""Seconds between two readings of lists that change."""
CLOSED = -32000
UNPARSED = "Failed to parse"
"""So the SDK begins what it says of a reply over HTTP that it can't read."""


class Transport(Protocol):
    """A way to a server."""

    heard: bool
    """Whether it has said anything."""
    unsigned: bool
    """Whether it wants the user to sign in."""
    ended: asyncio.Event

    @property
    def process(self) -> RunningCommand | None:
        """None for a server that runs elsewhere."""
        ...

    @property
    def ending(self) -> str:
        """Why it ended: the end of a sentence."""
        ...

    async def __aenter__(self) -> "TransportStreams": ...

    async def __aexit__(self, *error: Any) -> None: ...


class SignInNeeded(ToolError):
    """The server takes no requests before the user has signed in."""


class ServerConnection:
    """A connection to one server."""

    def __init__(
        self,
        definition: Definition,
        transport: Callable[[], Transport],
        changed: Callable[[], Awaitable[None]],
    ) -> None:
        """`changed` is awaited when the server says that its lists have changed."""
        self._definition = definition
        self._make = transport
        self._changed = changed
        self._stale = asyncio.Event()
        self._asking: list[tuple[Ask, asyncio.Timeout]] = []
        """For each running call: how to ask the user, and its timeout."""
        self._live: asyncio.Task[None] | None = None
        self._client: Client | None = None
        self._transport: Transport | None = None

    async def open(self) -> None:
        """Start it. Raises `ToolError`: one sentence without a stop."""
        async with self._in_time():
            try:
                await self._begin("auto")
            except _EndedAtOnce:  # some older servers end at a question that they do not know
                await self._begin("legacy")

    async def offer(self) -> Offer:
        """What it offers now. Raises `ToolError` as `open` does."""
        assert self._client is not None
        async with self._in_time():
            return await self._sent(offer_of(self._definition.name, self._client))

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        seconds = self._definition.startup_timeout
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            raise ToolError(f"it did not answer within {seconds:g} s") from None

    async def ended(self) -> str:
        """Wait until it has ended; why."""
        assert self._transport is not None
        await self._transport.ended.wait()
        return self._transport.ending

    async def close(self) -> None:
        """End it, with all that it has started."""
        live, self._live = self._live, None
        if live is not None:
            live.cancel()
            await asyncio.wait([live])

    def apart(self) -> AbstractAsyncContextManager[None]:
        """Around what others change in guarded places: see `RunningCommand.apart`."""
        transport = self._transport if self._client is not None else None
        process = transport.process if transport is not None else None
        return process.apart() if process is not None else nullcontext()

    async def request(
        self, sending: Callable[["Client"], Awaitable[T]], ask: Ask | None = None
    ) -> T:
        """What it answers, as the SDK has it. `ask` gets what it asks the user meanwhile; without
        it that is declined. Raises `ToolError`."""
        name, seconds = self._definition.name, self._definition.tool_timeout
        if self._client is None:
            raise ToolError(f'The server "{name}" is not running.')
        sent = self._sent(sending(self._client))
        try:
            async with asyncio.timeout(seconds) as limit:
                if ask is None:
                    return await sent
                asking = (ask, limit)
                self._asking.append(asking)
                try:
                    return await sent
                finally:
                    self._asking.remove(asking)
        except TimeoutError:
            raise ToolError(f'The server "{name}" did not answer within {seconds:g} s.') from None
        except ToolError as error:
            raise ToolError(f'The server "{name}" failed: {error}.') from error

    async def _sent(self, doing: Awaitable[T]) -> T:
        """Await the SDK. Raises `ToolError` for whatever a server can bring about."""
        from mcp import MCPError

        try:
            return await doing
        except MCPError as error:
            if self._transport is not None and self._transport.unsigned:
                raise self._sign_in() from error
            if error.code == CLOSED and self._transport is not None:
                raise ToolError(self._transport.ending) from error
            if error.message.startswith(UNPARSED):
                raise ToolError(
                    "it sent a reply that is not JSON, too long or compressed"
                ) from error
            raise ToolError(short(error.message)) from error
        except (ToolError, TimeoutError):
            raise
        except Exception as error:
            # The SDK checks replies with pydantic and has errors of its own; a server picks which.
            raise ToolError(f"it broke the protocol ({type(error).__name__})") from error

    def _sign_in(self) -> SignInNeeded:
        return SignInNeeded(f"it wants you to sign in: pinfold mcp login {self._definition.name}")

    async def _begin(self, mode: str) -> None:
        """Raises `ToolError`, `_EndedAtOnce`."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._live = asyncio.create_task(self._run(mode, ready))
        try:
            await ready
        except BaseException:
            await self.close()
            raise

    async def _run(self, mode: str, ready: "asyncio.Future[None]") -> None:
        from mcp import Client
        from mcp_types import Implementation

        self._transport = transport = self._make()
        client = Client(
            transport,
            mode=mode,
            cache=None,
            client_info=Implementation(name="pinfold", version=__version__),
            elicitation_callback=self._elicit,
            message_handler=self._hear,
        )
        try:
            async with client:
                self._client = client
                if not ready.done():
                    ready.set_result(None)
                await self._watch(client, transport)
        except asyncio.CancelledError:
            ready.cancel()
            raise
        except ToolError as error:
            _fail(ready, error)
        except Exception as error:
            if transport.unsigned:
                _fail(ready, self._sign_in())
            elif mode == "auto" and transport.ended.is_set() and not transport.heard:
                _fail(ready, _EndedAtOnce())
            else:
                said = _error_text(error)
                lost = transport.ended.is_set() and said == "Connection closed"
                _fail(ready, ToolError(transport.ending if lost else short(said)))
        finally:
            self._client = None

    async def _watch(self, client: "Client", transport: Transport) -> None:
        """Follow changes of its lists until it ends."""
        following = asyncio.create_task(self._follow())
        listening = asyncio.create_task(self._listen(client))
        try:
            await transport.ended.wait()
        finally:
            for task in (following, listening):
                task.cancel()
            await asyncio.wait([following, listening])

    async def _listen(self, client: "Client") -> None:
        """Since 2026-07-28 a server reports changes only to clients that listen."""
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        has = client.server_capabilities
        tools = bool(has.tools and has.tools.list_changed)
        prompts = bool(has.prompts and has.prompts.list_changed)
        resources = bool(has.resources and has.resources.list_changed)
        if not (tools or prompts or resources):
            return
        with suppress(Exception):  # a server that does not answer has no changes to tell
            async with client.listen(
                tools_list_changed=tools,
                prompts_list_changed=prompts,
                resources_list_changed=resources,
            ) as events:
                async for _ in events:
                    self._stale.set()

    async def _follow(self) -> None:
        while True:
            await self._stale.wait()
            self._stale.clear()
            await self._changed()
            await asyncio.sleep(QUIET)

    async def _hear(self, message: Any) -> None:
        if getattr(message, "method", "").endswith("/list_changed"):
            self._stale.set()

    async def _elicit(self, context: Any, params: Any) -> Any:  # noqa: ARG002
        from mcp_types import ElicitResult

        if not self._asking:
            return ElicitResult(action="decline")
        ask, limit = self._asking[-1]
        loop = asyncio.get_running_loop()
        until, begun = limit.when(), loop.time()
        limit.reschedule(None)  # the time that the user takes is not the server's
        try:
            action, content = await answered(params, ask)
        finally:
            if until is not None and not limit.expired():
                with suppress(RuntimeError):  # the call has ended meanwhile
                    limit.reschedule(until + loop.time() - begun)
        return ElicitResult(action=action, content=content)  # type: ignore[arg-type]


class _EndedAtOnce(Exception):
    """It ended before it said anything."""


def _fail(ready: "asyncio.Future[None]", error: Exception) -> None:
    if not ready.done():
        ready.set_exception(error)


def _error_text(error: BaseException) -> str:
    """The message of an error, or of the first one in a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__


def short(text: str) -> str:
    """Foreign text as one short line."""
    return one_line(text[:1_000])[:300].rstrip(".") or "it gave no reason"
