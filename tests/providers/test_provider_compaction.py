"""The compaction endpoint of a Responses server."""

import asyncio
from typing import Any

import pytest

from fakes.openai_server import OVERFLOW, FakeOpenAI, Reply
from fakes.provider import ScriptedProvider
from pinfold.ports.errors import (
    ContextOverflow,
    FirstByteTimedOut,
    MalformedStream,
    NetworkError,
    Overloaded,
    ProviderError,
    RateLimited,
    RequestRejected,
)
from pinfold.ports.provider import Compacted, ModelInfo, Request
from pinfold.providers.embedded import Embedded
from pinfold.providers.http_provider import HttpProvider, Timeouts
from pinfold.rollout.context import Context, ToolSchema
from pinfold.rollout.items import Item, Origin
from pinfold.rollout.values import Usage
from pinfold.settings import WireApi

MODEL = ModelInfo("m", "fake", 8_000, "table")
CONTEXT = Context(
    instructions="Be brief.", tools=(ToolSchema("look", "Looks.", {"type": "object"}),)
)
ITEMS = (
    Item(n=1, kind="user", content="Look."),
    Item(n=2, kind="tool_call", content="{}", response=1, call_id="a", name="look"),
    Item(n=3, kind="tool_result", content="seen", response=1, call_id="a"),
)
NONE = r"127\.0\.0\.1:\d+ has no compaction endpoint\."


def asks(*items: Item) -> Request:
    return Request(MODEL, CONTEXT, items or ITEMS, reasoning_effort="low", max_output=900)


async def compact(
    server: FakeOpenAI, wire: WireApi = "responses", timeouts: Timeouts | None = None
) -> Compacted:
    provider = HttpProvider("fake", server.url, "key", wire, timeouts=timeouts)
    try:
        return await provider.compact(asks())
    finally:
        await provider.close()


async def test_the_compaction_item_comes_back_as_the_server_made_it() -> None:
    async with FakeOpenAI() as server:
        server.compactions = ["c2VjcmV0"]
        found = await compact(server)
    assert found == Compacted(
        {"id": "cmp_1", "type": "compaction", "encrypted_content": "c2VjcmV0"},
        Usage(input=90, cached=0, output=9, reasoning=0),
    )


async def test_it_asks_with_what_the_endpoint_takes() -> None:
    """Tools, limits and streaming are no fields of it, and OpenAI refuses what it doesn't know."""
    async with FakeOpenAI() as server:
        server.compactions = ["c2VjcmV0"]
        await compact(server)
    (asked,) = server.compacted
    assert asked.body.keys() == {"model", "input", "instructions"}
    assert [item["type"] for item in asked.body["input"]] == [
        "message",
        "function_call",
        "function_call_output",
    ]


async def test_the_next_request_carries_it_and_another_compaction_replaces_it() -> None:
    async with FakeOpenAI([Reply("Yes")]) as server:
        server.compactions = ["Zmlyc3Q=", "c2Vjb25k"]
        provider = HttpProvider("fake", server.url, "key", "responses")
        first = await provider.compact(asks())
        kept = Item(n=4, kind="compaction", origin=Origin("fake", "m"), opaque=first.opaque)
        follow = Item(n=5, kind="user", content="Sure?")
        assert [delta async for delta in provider.stream(asks(kept, follow))]
        second = await provider.compact(asks(kept, follow))
        await provider.close()
    assert server.bodies[0]["input"][0] == first.opaque
    assert server.compacted[1].body["input"][0] == first.opaque
    assert second.opaque["encrypted_content"] == "c2Vjb25k"


@pytest.mark.parametrize("wire", ["chat", "responses"])
async def test_a_server_without_the_endpoint_is_named(wire: WireApi) -> None:
    async with FakeOpenAI() as server:
        with pytest.raises(RequestRejected, match=NONE):
            await compact(server, wire)
    assert len(server.compacted) == (wire == "responses")


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (Reply(status=405, body="<html>"), RequestRejected, NONE),
        (Reply(status=404, body="404 page not found"), RequestRejected, NONE),
        (Reply(status=501), RequestRejected, NONE),
        (
            Reply(status=404, body={"error": {"message": "The model `m` does not exist"}}),
            RequestRejected,
            "`m` does not exist",
        ),
        (
            Reply(status=400, body={"error": {"message": "Unknown path"}}),
            RequestRejected,
            "Unknown path",
        ),
        (
            Reply(body={"error": "Unexpected endpoint or method. (POST /v1/responses/compact)"}),
            RequestRejected,
            "Unexpected endpoint",
        ),
        (Reply(body="<html>"), RequestRejected, "check the base URL"),
        (Reply(body={"output": []}), MalformedStream, "without a compaction"),
        (Reply(body={"output": [{"type": "compaction"}]}), MalformedStream, "without a compaction"),
        (Reply(body={"output": "x"}), MalformedStream, "not a compaction"),
        (Reply(body=[1]), MalformedStream, "not a compaction"),
        (OVERFLOW, ContextOverflow, "does not fit"),
        (Reply(status=500, body="oops"), Overloaded, "oops"),
        (
            Reply(status=429, body={"error": {"message": "slow"}}, headers={"Retry-After": "3"}),
            RateLimited,
            "slow",
        ),
    ],
)
async def test_whatever_the_endpoint_does_is_one_of_the_errors(
    reply: Reply, kind: type[ProviderError], words: str
) -> None:
    async with FakeOpenAI() as server:
        server.compactions = [reply]
        with pytest.raises(ProviderError, match=words) as caught:
            await compact(server)
    assert type(caught.value) is kind
    assert caught.value.retry_after == (3 if kind is RateLimited else None)


async def test_a_connection_that_was_closed_meanwhile_is_opened_anew_once() -> None:
    gone = Reply(hang_up=True)
    async with FakeOpenAI() as server:
        server.compactions = [gone, "c2VjcmV0"]
        assert (await compact(server)).opaque["encrypted_content"] == "c2VjcmV0"
        server.compactions = [gone, gone, "c2VjcmV0"]
        with pytest.raises(NetworkError):
            await compact(server)


async def test_a_server_that_takes_too_long_is_left() -> None:
    async with FakeOpenAI() as server:
        server.compactions = [Reply("", gate=asyncio.Event())]
        with pytest.raises(FirstByteTimedOut, match="sent nothing for"):
            await compact(server, timeouts=Timeouts(first_byte=0.05))


async def test_the_embedded_model_has_none_and_is_not_loaded_for_it() -> None:
    provider = Embedded(["no-such-program"])
    with pytest.raises(RequestRejected, match="no compaction endpoint"):
        await provider.compact(asks())


async def test_the_scripted_provider_answers_alike() -> None:
    provider = ScriptedProvider([])
    done: Any = Compacted({"type": "compaction", "encrypted_content": "x"})
    provider.compactions = [done, RateLimited("slow")]
    assert await provider.compact(asks()) is done
    with pytest.raises(RateLimited):
        await provider.compact(asks())
    with pytest.raises(RequestRejected):
        await provider.compact(asks())
