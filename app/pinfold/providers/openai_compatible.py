"""Any endpoint that speaks Chat Completions or Responses, through the openai SDK.

The SDK makes the request: address, key, headers, errors. The events are read from its response
here, because building its typed chunks costs more than all else in a stream together.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pinfold.ports import (
    Delta,
    FirstByteTimedOut,
    IdleTimedOut,
    MalformedStream,
    ProviderError,
    Request,
)
from pinfold.providers.bodies import chat_body, complained_of, counted, responses_body, without
from pinfold.providers.chat_stream import ChatStream
from pinfold.providers.errors import Server, from_answer, from_sdk
from pinfold.providers.responses_stream import ResponsesStream
from pinfold.providers.sse import EventDecoder

if TYPE_CHECKING:
    import openai

WireApi = Literal["chat", "responses"]

GATHER = 0.04
"""Seconds in which what a server sends token by token gathers before it is read: waking up for
each token costs more than all that is done with it."""
COUNT_SECONDS = 10.0
"""How long a server may take to count."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds, each with an error of its own."""

    connect: float = 10
    first_byte: float = 300
    """From the request to the first byte of the answer: a local model reads its prompt here."""
    idle: float = 120
    """Between two pieces of the answer."""


class _Stream(Protocol):
    done: bool

    def feed(self, data: bytes) -> list[Delta]: ...
    def end(self) -> list[Delta]: ...


class OpenAICompatible:
    """A `ports.Provider` for one endpoint."""

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
        extra: Mapping[str, Any] | None = None,
        http_client: Any = None,
    ) -> None:
        """`key_env` is named in error messages; `extra` is added to the body of each request;
        `http_client` is an httpx client to use in place of the SDK's own."""
        self.name = name
        self.base_url = base_url
        self.wire_api: WireApi = wire_api
        self._server = Server(base_url, key_env, bool(api_key))
        self._api_key = api_key
        self._timeouts = timeouts or Timeouts()
        self._headers = dict(headers or {})
        self._extra = dict(extra or {})
        self._http_client = http_client
        self._client: openai.AsyncOpenAI | None = None
        self._warming = asyncio.Lock()
        self._refused: dict[str, set[str]] = {}
        """By model: optional fields of the body that the endpoint complained of."""
        # Of those that speak Chat Completions llama.cpp counts, and is never far away.
        self._counts = wire_api == "responses" or self._server.is_local

    async def warm(self) -> None:
        """Load the SDK in a thread (about a second), so that the first request need not wait."""
        async with self._warming:
            if self._client is None:
                try:
                    self._client = await asyncio.to_thread(self._connect)
                except Exception as exc:
                    raise from_sdk(exc, self._server) from exc

    async def stream(self, request: Request) -> AsyncGenerator[Delta]:
        """The response, piece by piece. Raises `ProviderError`. Closing it drops the connection."""
        await self.warm()
        body = self._body(request) | self._extra
        parser: _Stream = (ChatStream if self.wire_api == "chat" else ResponsesStream)(self._server)
        decoder = EventDecoder()
        async with aclosing(self._bytes(body, request)) as chunks:
            async for chunk in chunks:
                for data in decoder.feed(chunk):
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
        """See `ports.Provider`. A server that failed to count once is not asked again."""
        if not self._counts:
            return None
        body = counted(self._body(request))
        answer: Any = None
        with suppress(Exception):  # whatever goes wrong, the estimate will do
            async with asyncio.timeout(COUNT_SECONDS):
                await self.warm()
                assert self._client is not None
                answer = await self._client.post(
                    f"{self._path}/input_tokens",
                    cast_to=object,
                    body=body,
                    options={"headers": self._headers_of(request)},
                )
        tokens = answer.get("input_tokens") if isinstance(answer, dict) else None
        self._counts = isinstance(tokens, int) and tokens > 0
        return tokens if self._counts else None

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    @property
    def _path(self) -> str:
        return "/chat/completions" if self.wire_api == "chat" else "/responses"

    def _body(self, request: Request) -> dict[str, Any]:
        return (chat_body if self.wire_api == "chat" else responses_body)(request)

    def _headers_of(self, request: Request) -> dict[str, Any]:
        import openai

        headers: dict[str, Any] = dict(request.headers)
        if not self._api_key and "authorization" not in map(str.lower, self._headers):
            headers["Authorization"] = openai.Omit()
        return headers

    def _connect(self) -> "openai.AsyncOpenAI":
        import openai

        return openai.AsyncOpenAI(
            api_key=self._api_key or "none",
            base_url=self.base_url,
            max_retries=0,
            timeout=openai.Timeout(None, connect=self._timeouts.connect),
            default_headers=self._headers,
            http_client=self._http_client,
        )

    async def _bytes(self, body: dict[str, Any], request: Request) -> AsyncGenerator[bytes]:
        """The bytes of the answer as they come; all that the network does wrong ends here."""
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
            raise from_sdk(exc, self._server) from exc
        finally:
            if response is not None:
                await response.aclose()

    async def _send(self, body: dict[str, Any], request: Request) -> Any:
        """The SDK's HTTP response, asked for again where that costs nobody anything.

        A field that the endpoint does not know is left out and remembered. A kept connection
        that the server had closed meanwhile is opened anew, once.
        """
        import openai

        assert self._client is not None
        headers = self._headers_of(request)
        refused = self._refused.setdefault(request.model.name, set())
        reopened = False
        while True:
            try:
                stream = await self._client.post(
                    self._path,
                    cast_to=object,
                    body=without(body, refused),
                    options={"headers": headers},
                    stream=True,
                    stream_cls=openai.AsyncStream[object],
                )
            except (openai.BadRequestError, openai.UnprocessableEntityError) as exc:
                field = complained_of(body, refused, str(exc.body))
                if field is None:
                    raise
                refused.add(field)
            except openai.APIConnectionError as exc:
                if reopened or type(exc.__cause__).__name__ != "RemoteProtocolError":
                    raise
                reopened = True
            else:
                return stream.response

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


async def _drain(chunks: AsyncGenerator[bytes]) -> None:
    """Read on to the end that is due now: only then can the connection serve again."""
    with suppress(ProviderError, TimeoutError):
        async with asyncio.timeout(0.2):
            async for _ in chunks:
                pass
