"""A scripted OpenAI-compatible server on 127.0.0.1, for both wire APIs.

    async with FakeOpenAI([Reply("Hello"), Reply(status=500)]) as server:
        provider = HttpProvider("fake", server.url, None, "chat")

Each request takes the next reply, unless `answer` has one for it. Broken call and result pairs and
loose schemas are refused as OpenAI does.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Self

import pytest

from fakes.openai_rules import (
    chat_complaint,
    compact_complaint,
    responses_complaint,
    schema_complaint,
)

COUNT = "/input_tokens"
"""How the paths of both wire APIs end where a server counts a request."""
COMPACT = "/responses/compact"


@dataclass(frozen=True)
class Call:
    """A tool call of a reply."""

    name: str
    arguments: str = "{}"
    id: str = "call_1"


@dataclass
class Reply:
    """What one request gets."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    reasoning: str = ""
    finish: str | None = None
    """Finish reason; by default "tool_calls" or "stop"."""
    usage: Mapping[str, int] | None = field(
        default_factory=lambda: {"input": 10, "cached": 4, "output": 5, "reasoning": 2}
    )
    status: int = 200
    body: Any = None
    """Sent in place of a stream: JSON, or text as it is."""
    headers: Mapping[str, str] = field(default_factory=dict)
    events: list[bytes] | None = None
    """Sent as the stream, in place of what the fields above would give."""
    hang_up: bool = False
    """The connection closes without any answer."""
    cut_after: int | None = None
    """Events after which the connection breaks."""
    gate: asyncio.Event | None = None
    """Waited for before the event at `gate_at` (-1: after the last); never set, it hangs."""
    gate_at: int = 0
    piece: int = 4
    """Characters a text delta."""


OVERFLOW = Reply(
    status=400,
    body={
        "error": {
            "message": "This model's maximum context length is 8192 tokens. However, your "
            "messages resulted in 9031 tokens. Please reduce the length of the messages.",
            "type": "invalid_request_error",
            "param": "messages",
            "code": "context_length_exceeded",
        }
    },
)


def use(monkeypatch: pytest.MonkeyPatch, url: str, **more: str) -> None:
    """Have the environment name a server: it is the provider `fake`, with the model `scripted-1`.

    `more` are other settings, such as `MODEL__CONTEXT_WINDOW`.
    """
    settings = {
        "PROVIDERS__FAKE__BASE_URL": url,
        "PROVIDERS__FAKE__WIRE_API": "chat",
        "MODEL__PROVIDER": "fake",
        "MODEL__NAME": "scripted-1",
        "MODEL__CONTEXT_WINDOW": "8192",
    }
    for name, value in (settings | more).items():
        monkeypatch.setenv(f"PINFOLD_{name}", value)


@dataclass(frozen=True)
class Recorded:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class FakeOpenAI:
    """The server; `url` ends in /v1."""

    def __init__(
        self,
        script: Iterable[Reply] = (),
        *,
        pages: Mapping[str, Any] | None = None,
        answer: Callable[[Recorded], Reply | None] | None = None,
    ) -> None:
        self.script = list(script)
        self.answer = answer
        """Asked before the script: where turns and summaries are under way at the same time."""
        self.pages = dict(pages or {})
        """What GET answers, by path."""
        self.requests: list[Recorded] = []
        """All but those for a count or a compaction."""
        self.counts: list[int | Reply] = []
        """What the next questions for a count get, in tokens; then there is no such path."""
        self.counted: list[Recorded] = []
        self.compactions: list[str | Reply] = []
        """What the next compactions get, as encrypted content; then there is no such path."""
        self.compacted: list[Recorded] = []
        self.connections = 0
        self.dropped = asyncio.Event()
        """A client went away while its answer was under way."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 24)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self._open: set[asyncio.Task[Any]] = set()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    @property
    def bodies(self) -> list[Any]:
        """The bodies of the POST requests."""
        return [request.body for request in self.requests if request.method == "POST"]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self.connections += 1
        try:
            while (request := await _read(reader)) is not None:
                self._list_of(request.path).append(request)
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()

    def _list_of(self, path: str) -> list[Recorded]:
        if path.endswith(COUNT):
            return self.counted
        return self.compacted if path.endswith(COMPACT) else self.requests

    async def _answer(
        self, request: Recorded, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        if request.method == "GET":
            page = self.pages.get(request.path)
            reply = Reply(status=404, body={"error": "no such page"}) if page is None else page
            reply = reply if isinstance(reply, Reply) else Reply(body=reply)
        else:
            reply = self._next(request)
        if reply.hang_up:
            return False
        if reply.body is not None or reply.status != 200:
            return _send_body(writer, reply)
        writer.write(
            _head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        )
        watch = asyncio.ensure_future(reader.read(1))
        send = asyncio.ensure_future(self._send_events(request, reply, writer))
        await asyncio.wait({watch, send}, return_when=asyncio.FIRST_COMPLETED)
        watch.cancel()
        await asyncio.wait({watch})
        if not send.done():
            self.dropped.set()
            send.cancel()
            return False
        return send.result()

    def _next(self, request: Recorded) -> Reply:
        if request.path.endswith(COUNT) and self.counts:
            count = self.counts.pop(0)
            return count if isinstance(count, Reply) else Reply(body={"input_tokens": count})
        compact = request.path.endswith(COMPACT) and bool(self.compactions)
        chat = request.path.endswith("/chat/completions")
        if not chat and not compact and not request.path.endswith("/responses"):
            return Reply(status=404, body={"error": {"message": f"no such path {request.path}"}})
        if complaint := _complaint(request.body, chat=chat, compact=compact):
            error = {"message": complaint, "type": "invalid_request_error"}
            return Reply(status=400, body={"error": error})
        if compact:
            return _compaction(request, self.compactions.pop(0))
        if self.answer is not None and (reply := self.answer(request)) is not None:
            return reply
        if not self.script:
            return Reply(status=500, body={"error": {"message": "the script has ended"}})
        return self.script.pop(0)

    async def _send_events(
        self, request: Recorded, reply: Reply, writer: asyncio.StreamWriter
    ) -> bool:
        chat = request.path.endswith("/chat/completions")
        events = reply.events
        if events is None:
            events = list(_chat_events(reply) if chat else _responses_events(reply))
        for number, event in enumerate(events):
            if number == reply.cut_after:
                writer.transport.abort()
                return False
            if reply.gate and number == reply.gate_at:
                await reply.gate.wait()
            writer.write(b"%x\r\n%b\r\n" % (len(event), event))
            await writer.drain()
        if reply.gate and reply.gate_at == -1:
            await reply.gate.wait()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


def data(value: Any) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _complaint(body: dict[str, Any], *, chat: bool, compact: bool) -> str | None:
    if compact:
        return compact_complaint(body)
    if chat:
        return chat_complaint(body["messages"]) or schema_complaint(body)
    return responses_complaint(body["input"]) or schema_complaint(body)


def _compaction(request: Recorded, content: str | Reply) -> Reply:
    if isinstance(content, Reply):
        return content
    kept = [item for item in request.body["input"] if item.get("role") == "user"]
    item = {"id": "cmp_1", "type": "compaction", "encrypted_content": content}
    usage = {"input_tokens": 90, "output_tokens": 9, "total_tokens": 99}
    body = {"id": "resp_1", "object": "response.compaction", "created_at": 1}
    return Reply(body=body | {"output": [*kept, item], "usage": usage})


async def _read(reader: asyncio.StreamReader) -> Recorded | None:
    line = await reader.readline()
    if not line:
        return None
    method, path, _ = line.decode("latin1").split(None, 2)
    headers: dict[str, str] = {}
    while (header := await reader.readline()).strip():
        name, _, value = header.decode("latin1").partition(":")
        headers[name.strip().lower()] = value.strip()
    content = await reader.readexactly(int(headers.get("content-length", 0)))
    return Recorded(method, path, headers, json.loads(content) if content else None)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _send_body(writer: asyncio.StreamWriter, reply: Reply) -> bool:
    text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body or {})
    kind = "text/html" if text.startswith("<") else "application/json"
    content = text.encode()
    headers = {"content-type": kind, "content-length": str(len(content)), **reply.headers}
    writer.write(_head(reply.status, headers) + content)
    return True


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def _chat_events(reply: Reply) -> Iterator[bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return data({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.reasoning, reply.piece):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(reply.text, reply.piece):
        yield chunk({"content": piece})
    for index, call in enumerate(reply.calls):
        first = {"name": call.name, "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": call.id, "function": first}]})
        for piece in _pieces(call.arguments, reply.piece):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, reply.finish or ("tool_calls" if reply.calls else "stop"))
    if reply.usage is not None:
        usage = {
            "prompt_tokens": reply.usage["input"],
            "completion_tokens": reply.usage["output"],
            "prompt_tokens_details": {"cached_tokens": reply.usage["cached"]},
            "completion_tokens_details": {"reasoning_tokens": reply.usage["reasoning"]},
        }
        yield data({"choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _responses_events(reply: Reply) -> Iterator[bytes]:
    def event(kind: str, **fields: Any) -> bytes:
        return f"event: {kind}\n".encode() + data({"type": kind, **fields})

    yield event("response.created", response={"id": "resp_1", "status": "in_progress"})
    if reply.reasoning:
        item = {
            "id": "rs_1",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": reply.reasoning}],
            "encrypted_content": "c2VjcmV0",
        }
        yield event("response.output_item.added", item={**item, "summary": []})
        for piece in _pieces(reply.reasoning, reply.piece):
            yield event("response.reasoning_summary_text.delta", item_id="rs_1", delta=piece)
        yield event("response.output_item.done", item=item)
    if reply.text:
        content = [{"type": "output_text", "text": reply.text}]
        item = {"id": "msg_1", "type": "message", "role": "assistant", "content": content}
        yield event("response.output_item.added", item={**item, "content": []})
        for piece in _pieces(reply.text, reply.piece):
            yield event("response.output_text.delta", item_id="msg_1", delta=piece)
        yield event("response.output_item.done", item=item)
    for index, call in enumerate(reply.calls):
        item = {"id": f"fc_{index}", "type": "function_call", "call_id": call.id}
        item |= {"name": call.name, "arguments": call.arguments}
        yield event("response.output_item.added", item={**item, "arguments": ""})
        for piece in _pieces(call.arguments, reply.piece):
            yield event("response.function_call_arguments.delta", item_id=item["id"], delta=piece)
        yield event("response.output_item.done", item=item)
    usage = reply.usage and {
        "input_tokens": reply.usage["input"],
        "output_tokens": reply.usage["output"],
        "total_tokens": reply.usage["input"] + reply.usage["output"],
        "input_tokens_details": {"cached_tokens": reply.usage["cached"]},
        "output_tokens_details": {"reasoning_tokens": reply.usage["reasoning"]},
    }
    response: dict[str, Any] = {"id": "resp_1", "status": "completed", "usage": usage}
    kind = "response.completed"
    if reply.finish:
        reason = "max_output_tokens" if reply.finish == "length" else reply.finish
        response |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
        kind = "response.incomplete"
    yield event(kind, response=response)
