"""Servers over streamable HTTP."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from fakes.mcp import servers, started, until
from pinfold.mcp.definition import Definition
from pinfold.mcp.http import MOST_BYTES
from pinfold.mcp.servers import McpServers
from pinfold.ports.tool import ToolError

STAMP = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
REPLIES: dict[str, dict[str, Any]] = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
    "tools/list": {
        "tools": [
            {"name": name, "inputSchema": {"type": "object"}} for name in ("say", "long", "event")
        ]
    },
}


def answer(request: httpx2.Request) -> httpx2.Response:
    assert request.headers["authorization"] == "Bearer 1234"
    assert request.headers["accept-encoding"] == "identity"
    message = json.loads(request.content)
    result = REPLIES.get(message["method"])
    name = message.get("params", {}).get("name")
    if result is None:
        text = "a" * MOST_BYTES if name == "long" else "hi"
        result = {"content": [{"type": "text", "text": text}]}
    reply = {"jsonrpc": "2.0", "id": message["id"], "result": {**STAMP, **result}}
    if name == "event":
        return httpx2.Response(
            200,
            headers={"content-type": "text/event-stream"},
            text=f"event: message\ndata: {json.dumps(reply)}\n\n",
        )

    async def content() -> AsyncIterator[bytes]:
        yield json.dumps(reply).encode()

    return httpx2.Response(200, headers={"content-type": "application/json"}, content=content())


def reached(folder: Path, answer: Callable[[httpx2.Request], httpx2.Response]) -> McpServers:
    definition = Definition("fake", url="http://127.0.0.1:1/mcp", bearer_env="TOKEN")
    network = httpx2.MockTransport(answer)
    return servers(folder, definition, env={"TOKEN": "1234"}, http=network)


async def test_a_server_over_http(tmp_path: Path) -> None:
    async with aclosing(reached(tmp_path, answer)) as given:
        state = await started(given)
        assert [tool.name for tool in state.tools] == ["say", "long", "event"], state.why
        assert (await given.call("fake", "say", {}, print)).output == "hi"
        assert (await given.call("fake", "event", {}, print)).output == "hi"
        with pytest.raises(
            ToolError, match="it sent a reply that is not JSON, too long or compressed"
        ):
            await given.call("fake", "long", {}, print)
        assert (await given.call("fake", "say", {}, print)).output == "hi"


async def test_a_flood_of_notifications_ends_the_server(tmp_path: Path) -> None:
    line = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    event = f"event: message\ndata: {json.dumps(line)}\n\n"

    def flood(request: httpx2.Request) -> httpx2.Response:
        message = json.loads(request.content)
        if message["method"] != "tools/call":
            return answer(request)
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, text=event * 3_000)

    async with aclosing(reached(tmp_path, flood)) as given:
        await started(given)
        with pytest.raises(ToolError):
            await given.call("fake", "say", {}, print)
        state = await until(given, lambda: given.state("fake").state == "failed", "fake")
        assert "flooded pinfold with messages" in state.why


async def test_a_server_that_refuses_says_so(tmp_path: Path) -> None:
    def refuse(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("Connection refused")

    async with aclosing(reached(tmp_path, refuse)) as given:
        assert (await started(given)).why == "Connection refused."
