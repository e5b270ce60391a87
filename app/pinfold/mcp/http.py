"""The transport to a server over streamable HTTP: the SDK's, with limits."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

import httpx2

from pinfold.mcp.sift import FLOODS, PASSED, Allowance, sift

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

FAREWELL = 3.0
"""Seconds that a server has to hear that the connection ends."""
MOST_BYTES = 2_000_000
"""Of one reply or event: the SDK decodes them on the event loop."""


class _Bounded(httpx2.AsyncByteStream):
    """Ends early, which makes a reply that can't be read; an error here would end the SDK's
    whole connection."""

    def __init__(self, stream: Any, most: int = MOST_BYTES) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._most:
                return
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def limit(response: httpx2.Response) -> None:
    """Give a reply an end, unless it is a stream of events, which the SDK limits."""
    if response.headers.get("content-encoding", "identity") != "identity":
        response.stream = _Bounded(response.stream, 0)  # who knows how large it would become
    elif not response.headers.get("content-type", "").startswith("text/event-stream"):
        response.stream = _Bounded(response.stream)


class Http:
    """A connection to a URL."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        startup: float,
        inner: httpx2.AsyncBaseTransport | None = None,
        auth: httpx2.Auth | None = None,
    ) -> None:
        """`inner` replaces the network; `auth` signs requests."""
        self._url, self._headers = url, headers
        self._startup = startup
        self._inner = inner
        self._auth = auth
        self._undoing = AsyncExitStack()
        self.heard = True
        self.unsigned = False
        self.process = None
        self._allowance = Allowance()
        self.ended = asyncio.Event()
        self.ending = "the connection was closed"

    async def __aenter__(self) -> "TransportStreams":
        import anyio
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared.message import SessionMessage

        async with AsyncExitStack() as undoing:
            client = await undoing.enter_async_context(await asyncio.to_thread(self._client))
            source, write = await undoing.enter_async_context(
                streamable_http_client(self._url, http_client=client, max_sse_event_size=MOST_BYTES)
            )
            target, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
            undoing.callback(read.close)

            async def sifted() -> None:
                clock = asyncio.get_running_loop().time
                try:
                    async for message in source:
                        if _answers_nothing(message) and not self._allowance.take(clock()):
                            self.ending = FLOODS
                            return
                        if (kept := _sifted(message)) is not None:
                            await target.send(kept)
                except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                    pass
                finally:
                    target.close()
                    self.ended.set()

            pump = asyncio.create_task(sifted())

            async def end() -> None:
                pump.cancel()
                await asyncio.wait([pump])

            undoing.push_async_callback(end)
            self._undoing = undoing.pop_all()
        return read, write

    def _client(self) -> httpx2.AsyncClient:
        """Blocking: certificates are read."""
        return httpx2.AsyncClient(
            headers={"accept-encoding": "identity", **self._headers},
            timeout=httpx2.Timeout(self._startup, read=300.0),
            auth=self._auth,
            transport=self._inner,
            event_hooks={"response": [limit, self._look]},
        )

    async def _look(self, response: httpx2.Response) -> None:
        if response.request.url == self._url:
            self.unsigned = response.status_code == 401

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(httpx2.HTTPError, TimeoutError):
            async with asyncio.timeout(FAREWELL):
                await self._undoing.aclose()


def _answers_nothing(item: Any) -> bool:
    return hasattr(getattr(item, "message", None), "method")


def _sifted(item: Any) -> Any:
    from mcp.shared.message import SessionMessage
    from mcp_types import ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCResponse

    if not isinstance(item, SessionMessage):
        return item
    message = item.message
    if isinstance(message, JSONRPCNotification) and message.method not in PASSED:
        return None
    if isinstance(message, JSONRPCResponse) and (problem := sift(message.result)):
        error = ErrorData(code=-32700, message=f"it sent {problem}")
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=message.id, error=error))
    return item
