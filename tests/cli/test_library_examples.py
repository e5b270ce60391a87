"""The examples of `docs/library.md`, against a server on 127.0.0.1, where their packages are."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "library.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
PROMPTS = [f"The port of service_{n} is {7_000 + n}." for n in range(6)]


class Handler(BaseHTTPRequestHandler):
    """Answers each request of both APIs, and keeps its body."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)  # type: ignore[attr-defined]
        answer = responses() if self.path.endswith("/responses") else chat()
        content = json.dumps({"model": body["model"], "created": 0, **answer}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


def chat() -> dict[str, Any]:
    message = {"role": "assistant", "content": "Noted."}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return {"id": "c", "object": "chat.completion", "choices": choices}


def responses() -> dict[str, Any]:
    part = {"type": "output_text", "text": "Noted.", "annotations": []}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    details = {"input_tokens_details": {"cached_tokens": 0}}
    details |= {"output_tokens_details": {"reasoning_tokens": 0}}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details}
    return {
        "id": "r",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "output": [{**message, "content": [part]}],
        "usage": usage,
        "tools": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
    }


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """What was sent to the server, which the environment names."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.bodies = []  # type: ignore[attr-defined]
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-fake")
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.bodies  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()


def example(naming: str) -> dict[str, Any]:
    """The names of an example, with those that all share."""
    names: dict[str, Any] = {}
    (own,) = (text for text in EXAMPLES[1:] if naming in text)
    exec(EXAMPLES[0] + own, names)
    return names


def check(sent: list[dict[str, Any]], turns: int = 3) -> None:
    """The last request: one record of what is earlier, and the last turns as they were."""
    old, new = PROMPTS[:-turns], PROMPTS[-turns:]
    first, *rest = sent
    assert first["role"] == "user"
    text = first["content"] if isinstance(first["content"], str) else first["content"][0]["text"]
    assert text.startswith("A record of earlier messages")
    for prompt in old:
        assert text.count(f"USER: {prompt}") == 1
    assert "#0 USER: " in text
    said = json.dumps(rest)
    assert all(said.count(prompt) == 1 for prompt in new)
    assert not any(prompt in said for prompt in old)


def test_a_plain_loop(bodies: list[dict[str, Any]]) -> None:
    pytest.importorskip("openai")
    names = example("from openai import OpenAI")
    for prompt in PROMPTS:
        assert names["ask"](prompt) == "Noted."
    names["client"].close()
    assert bodies[-1]["messages"][0]["role"] == "system"
    check(bodies[-1]["messages"][1:])
    assert len(names["history"]) == 12


def test_a_middleware_of_langchain(bodies: list[dict[str, Any]]) -> None:
    pytest.importorskip("langchain_openai")
    agent = example("from langchain.agents")["agent"]
    messages: list[Any] = []
    for prompt in PROMPTS:
        state = agent.invoke({"messages": [*messages, {"role": "user", "content": prompt}]})
        messages = state["messages"]
    check(bodies[-1]["messages"])
    assert len(messages) == 12


async def test_a_session_of_the_agents_sdk(bodies: list[dict[str, Any]]) -> None:
    pytest.importorskip("agents")
    names = example("from agents import")
    session = names["DigestSession"]("1")
    for prompt in PROMPTS:
        assert await names["talk"](prompt, session) == "Noted."
    check(bodies[-1]["input"], turns=4)  # the session gives out what is before the prompt
    session.close()
