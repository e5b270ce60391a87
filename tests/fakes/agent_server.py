"""A server on 127.0.0.1 that Claude Code and Codex talk to: each request is kept, and answered."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

Body = dict[str, Any]
Answer = Callable[[Body], str]


class AgentServer(ThreadingHTTPServer):
    """Answers in Anthropic's form under `/v1/messages`, in that of the Responses API elsewhere."""

    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.bodies: list[Body] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def asked(self, prompt: str) -> list[Body]:
        """The requests of the agent itself whose last words are a prompt."""
        return [body for body in self.bodies if body.get("tools") and _last(body) == prompt]


@contextmanager
def serving(answer: Answer) -> Iterator[AgentServer]:
    server = AgentServer(answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def texts(body: Body) -> list[str]:
    """The texts of its messages, in order."""
    found: list[str] = []
    for message in body.get("messages") or body.get("input") or ():
        content = message.get("content")
        if isinstance(content, str):
            found.append(content)
        else:
            found += [part.get("text", "") for part in content or () if isinstance(part, dict)]
    return found


def _last(body: Body) -> str:
    return next((text.strip() for text in reversed(texts(body)) if text.strip()), "")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: AgentServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "count_tokens" in self.path:
            self._send("application/json", b'{"input_tokens": 10}')
            return
        said = self.server.answer(body)
        form = _anthropic if "/messages" in self.path else _responses
        events = list(form(said, body.get("model", "")))
        if body.get("stream"):
            lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
            self._send("text/event-stream", "".join(lines).encode())
        else:
            self._send("application/json", json.dumps(_whole(said, body)).encode())
        self.server.bodies.append(body)

    def do_GET(self) -> None:
        self._send("application/json", b'{"data": [{"id": "fake-model"}]}')

    def do_HEAD(self) -> None:
        self._send("application/json", b"")

    def _send(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


def _whole(said: str, body: Body) -> Body:
    return {
        "id": f"msg_{uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": [{"type": "text", "text": said}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def _anthropic(said: str, model: str) -> Iterator[Body]:
    message = _whole(said, {"model": model}) | {"content": [], "stop_reason": None}
    yield {"type": "message_start", "message": message}
    block = {"type": "text", "text": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    delta = {"type": "text_delta", "text": said}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def _responses(said: str, model: str) -> Iterator[Body]:
    part = {"type": "output_text", "text": said, "annotations": []}
    item = {
        "type": "message",
        "id": f"msg_{uuid4().hex}",
        "status": "completed",
        "role": "assistant",
    }
    item["content"] = [part]  # type: ignore[assignment]
    details = {"input_tokens_details": {"cached_tokens": 0}}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, **details}
    response = {"id": f"resp_{uuid4().hex}", "object": "response", "created_at": 0, "model": model}
    yield {"type": "response.created", "response": {**response, "status": "in_progress"}}
    started = {**item, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": 0, "item": started}
    yield {"type": "response.output_text.delta", "item_id": item["id"], "delta": said}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    done = {**response, "status": "completed", "output": [item], "usage": usage}
    yield {"type": "response.completed", "response": done}
