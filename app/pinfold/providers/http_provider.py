"""A provider for endpoints that speak Chat Completions or Responses.

Over httpx2 alone: importing the openai SDK takes longer than all else between the start of the
program and its first request.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from pinfold import __version__
from pinfold.ports.errors import (
    FirstByteTimedOut,
    IdleTimedOut,
    MalformedStream,
    ProviderError,
    RequestRejected,
)
from pinfold.ports.provider import Compacted, Delta, Request
from pinfold.providers.metadata import ServerModels, server_models
from pinfold.providers.sse import MAX_LINE, EventDecoder, TooLong
from pinfold.settings import WireApi
from pinfold.window.reading import reserve
from pinfold.wire.errors import ApiServer, ErrorStatus, from_answer, from_exception
from pinfold.wire.optional import complained_of, without
from pinfold.wire.wires import Body, wire_of

if TYPE_CHECKING:
    import httpx2

GATHER = 0.04
"""Seconds in which what a server sends token by token gathers before it is read: waking up for
each token costs more than all that is done with it."""
COUNT_SECONDS = 10.0
"""How long a server may take to count."""
OWN_HEADERS = "x-pinfold-"
"""Prefix of headers that only a request may set."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds, each with an error of its own."""

    connect: float = 10
    first_byte: float = 300
    """From the request to the first byte of the answer: a local model reads its prompt here."""
    idle: float = 120
    """Between two pieces of the answer."""


class HttpProvider:
    """A `Provider` for one endpoint."""

    def __init__(
        self,
        name: str,
        base_url: str,
        api_key: str | None,
        wire_api: WireApi,
        *,
        key_env: str = "",
        timeouts: Timeouts | None = None,
        headers: Mapping[str, str] | None = None,
        max_output: int | None = None,
        extra: Mapping[str, Any] | None = None,
        transport: "httpx2.AsyncBaseTransport | None" = None,
    ) -> None:
        """`key_env` is named in error messages; `max_output` is what a reply may have in tokens
        where the request does not ask for less; `extra` is added to the body of each request;
        `transport` replaces the network.

        The `headers` of a request win over those given here, which hold none of `OWN_HEADERS`."""
        self.name = name
        self.base_url = base_url
        self.wire_api: WireApi = wire_api
        self._wire = wire_of(wire_api)
        self._server = ApiServer(base_url, key_env, bool(api_key))
        self._api_key = api_key
        self._timeouts = timeouts or Timeouts()
        given = (headers or {}).items()
        self._headers = {k: v for k, v in given if not k.lower().startswith(OWN_HEADERS)}
        self._max_output = max_output
        self._extra = dict(extra or {})
        self._transport = transport
        self._client: httpx2.AsyncClient | None = None
        self._warming = asyncio.Lock()
        self._refused: dict[str, set[str]] = {}
        """By model: fields that the endpoint refused; later requests leave them out."""
        counting = self._wire.counting
        able = counting is not None and (counting.everywhere or self._server.is_local)
        self._counting = counting if able else None

    async def warm(self) -> None:
        """Import and set up the client in a thread, so that the first request need not wait."""
        async with self._warming:
            if self._client is None:
                try:
                    self._client = await asyncio.to_thread(self._connect)
                except Exception as exc:
                    raise from_exception(exc, self._server) from exc

    async def models(self, timeout: float) -> ServerModels:  # noqa: ASYNC109
        """The models that the endpoint lists, asked for at most `timeout` seconds. Never raises."""
        return await server_models(self.base_url, self._api_key, timeout, self._headers)

    async def stream(self, request: Request) -> AsyncGenerator[Delta]:
        """The response, piece by piece. Raises `ProviderError`. Closing it drops the connection.

        A request with a `max_output` of 1 only opens the connection and warms the prompt cache:
        nothing is generated where the API can do that, and else the few tokens that are its least.
        """
        await self.warm()
        body = self._body(request) | self._extra
        parser = self._wire.stream(self._server)
        decoder = EventDecoder()
        async with aclosing(self._bytes(body, request)) as chunks:
            async for chunk in chunks:
                try:
                    whole = decoder.feed(chunk)
                except TooLong as exc:
                    limit = f"more than {MAX_LINE // 2**20} MB"
                    raise ProviderError(f"{self._server.host} sent a line of {limit}") from exc
                for data in whole:
                    for delta in parser.feed(data):
                        yield delta
                if parser.done:
                    await _drain(chunks)
                    return
        for data in decoder.end():
            for delta in parser.feed(data):
                yield delta
        if not parser.done:
            for delta in parser.end():
                yield delta

    async def count(self, request: Request) -> int | None:
        """See `Provider`. A server that failed to count once is not asked again."""
        if (counting := self._counting) is None:
            return None
        body = _only(self._body(request), counting.fields)
        answer: Any = None
        with suppress(Exception):  # whatever goes wrong, the estimate will do
            async with asyncio.timeout(COUNT_SECONDS):
                await self.warm()
                answer = _parsed(await self._post(counting.path, body, request))
        tokens = answer.get("input_tokens") if isinstance(answer, dict) else None
        if isinstance(tokens, int) and tokens > 0:
            return tokens
        self._counting = None
        return None

    async def compact(self, request: Request) -> Compacted:
        """See `Provider`; the server may take as long as for the first byte of an answer."""
        missing = f"{self._server.host} has no compaction endpoint."
        if (compacting := self._wire.compacting) is None:
            raise RequestRejected(missing)
        await self.warm()
        body = _only(self._body(request), compacting.fields)
        limit = self._timeouts.first_byte
        try:
            async with asyncio.timeout(limit):
                answer = _parsed(await self._post(compacting.path, body, request))
        except TimeoutError as exc:
            raise FirstByteTimedOut(f"{self._server.host} sent nothing for {limit:g} s") from exc
        except Exception as exc:
            error = from_exception(exc, self._server)
            # A model that is not there is a 404 too, and the server says which.
            if error.status in {404, 405, 501} and "model" not in str(getattr(exc, "body", "")):
                error = RequestRejected(missing, status=error.status)
            raise error from exc
        return compacting.read(answer, self._server)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    def _body(self, request: Request) -> dict[str, Any]:
        most, model = self._max_output, request.model
        if most is not None and model.window_source == "learned":
            most = reserve(model.context_window, most)  # or it alone might not fit
        limits = [n for n in (request.max_output, most) if n is not None]
        request = msgspec.structs.replace(request, max_output=min(limits, default=None))
        return self._wire.body(request, self.base_url)

    def _connect(self) -> "httpx2.AsyncClient":
        import httpx2

        headers = httpx2.Headers({"user-agent": f"pinfold/{__version__}"})
        if self._api_key:
            headers.update(self._wire.headers(self._api_key))
        headers.update(self._headers)
        return httpx2.AsyncClient(
            base_url=self.base_url,
            headers=headers,
            timeout=httpx2.Timeout(None, connect=self._timeouts.connect),
            follow_redirects=True,
            event_hooks={"request": [self._stay]},
            transport=self._transport,
        )

    async def _stay(self, request: Any) -> None:
        """Refuse a request that a redirect would take to another origin, with all it carries."""
        assert self._client is not None
        own, asked = self._client.base_url, request.url
        if asked.host and (asked.scheme, asked.netloc) != (own.scheme, own.netloc):
            origin = f"{asked.scheme}://{asked.netloc.decode('ascii')}"
            raise RequestRejected(
                f"{self._server.host} redirects to {origin}, and nothing is sent there: if that "
                "is your provider, use it as the base URL"
            )

    async def _bytes(self, body: dict[str, Any], request: Request) -> AsyncGenerator[bytes]:
        """The bytes of the answer as they come. Raises `ProviderError` for any network failure."""
        limit = self._timeouts.first_byte
        late: type[ProviderError] = FirstByteTimedOut
        response = None
        try:
            async with asyncio.timeout(limit):
                response = await self._send(body, request)
                await self._check(response)
            chunks = response.aiter_bytes()
            clock = asyncio.get_running_loop().time
            while True:
                asked = clock()
                async with asyncio.timeout(limit):
                    chunk = await anext(chunks, None)
                waited = clock() - asked > 0.001
                if chunk is None:
                    return
                limit, late = self._timeouts.idle, IdleTimedOut
                yield chunk
                if waited:
                    await asyncio.sleep(GATHER)
        except TimeoutError as exc:
            raise late(f"{self._server.host} sent nothing for {limit:g} s") from exc
        except Exception as exc:
            raise from_exception(exc, self._server) from exc
        finally:
            if response is not None:
                await response.aclose()

    async def _send(self, body: dict[str, Any], request: Request) -> "httpx2.Response":
        """The streaming response. Fields that the endpoint refuses are left out from then on."""
        refused = self._refused.setdefault(request.model.name, set())
        optional = self._wire.optional
        while True:
            sent = without(body, optional, refused)
            try:
                return await self._post(self._wire.path, sent, request, stream=True)
            except ErrorStatus as exc:
                about = str(exc.body) if exc.status in {400, 422} else ""
                name = complained_of(sent, optional, about)
                if name is None:
                    raise
                refused.add(name)

    async def _post(
        self, path: str, body: dict[str, Any], request: Request, *, stream: bool = False
    ) -> "httpx2.Response":
        """The response, unread where it is to `stream`. Raises `ErrorStatus`.

        A kept connection that the server had closed meanwhile is opened again, once.
        """
        import httpx2

        assert self._client is not None
        asked = self._client.build_request("POST", path, json=body, headers=request.headers)
        try:
            response = await self._client.send(asked, stream=stream)
        except httpx2.RemoteProtocolError:
            response = await self._client.send(asked, stream=stream)
        if not response.is_success:
            await response.aread()
            raise ErrorStatus(response.status_code, response.headers, _parsed(response))
        return response

    async def _check(self, response: Any) -> None:
        """Refuse an answer that is no stream of events."""
        kind = response.headers.get("content-type", "")
        if kind.startswith("text/html"):
            raise from_answer("<html>", self._server)
        if kind.startswith("application/json"):
            answer = await response.aread()
            with suppress(ValueError):
                answer = json.loads(answer)
            if isinstance(answer, dict) and answer.get("error"):
                raise from_answer(answer, self._server, status=response.status_code)
            raise MalformedStream(f"{self._server.host} answered without streaming")


def _parsed(response: "httpx2.Response") -> Any:
    """The body: as JSON where it is JSON."""
    try:
        return response.json()
    except ValueError:
        return response.text


async def _drain(chunks: AsyncGenerator[bytes]) -> None:
    """Read on to the end that is due now: only then can the connection serve again."""
    with suppress(ProviderError, TimeoutError):
        async with asyncio.timeout(0.2):
            async for _ in chunks:
                pass


def _only(body: Body, fields: Collection[str]) -> Body:
    return {name: value for name, value in body.items() if name in fields}
