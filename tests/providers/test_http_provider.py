import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx2
import pytest

from fakes.openai_server import OVERFLOW, Call, FakeOpenAI, Reply, data
from pinfold.ports.errors import (
    AuthenticationFailed,
    ConnectTimedOut,
    ContentRefused,
    ContextOverflow,
    FirstByteTimedOut,
    IdleTimedOut,
    MalformedStream,
    NetworkError,
    Overloaded,
    ProviderError,
    RateLimited,
    RequestRejected,
)
from pinfold.ports.provider import (
    CallDelta,
    Delta,
    ModelInfo,
    PartDone,
    ReasoningDelta,
    Request,
    ResponseDone,
    TextDelta,
)
from pinfold.providers.http_provider import HttpProvider, Timeouts
from pinfold.rollout.context import Context, ToolSchema
from pinfold.rollout.items import Item, Origin
from pinfold.rollout.values import Usage
from pinfold.settings import WireApi

MODEL = ModelInfo("m", "fake", 8_000, "table")
TOOL = ToolSchema("look", "Looks.", {"type": "object", "properties": {}})
PROMPT = Item(n=1, kind="user", content="Hello")

both = pytest.mark.parametrize("wire", ["chat", "responses"])


@asynccontextmanager
async def served(
    wire: WireApi, script: Iterable[Reply] = (), **options: Any
) -> AsyncIterator[tuple[FakeOpenAI, HttpProvider]]:
    """A server, and a provider that asks it."""
    async with FakeOpenAI(script) as server:
        model = HttpProvider("fake", server.url, "key", wire, key_env="A_KEY", **options)
        try:
            yield server, model
        finally:
            await model.close()


def asks(*items: Item, **fields: object) -> Request:
    context = Context(instructions="Be brief.", tools=(TOOL,))
    return Request(MODEL, context, items or (PROMPT,), **fields)  # type: ignore[arg-type]


async def deltas(wire: WireApi, *script: Reply, timeouts: Timeouts | None = None) -> list[Delta]:
    async with served(wire, script, timeouts=timeouts) as (_, model):
        return [delta async for delta in model.stream(asks())]


async def failure(wire: WireApi, reply: Reply, timeouts: Timeouts | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await deltas(wire, reply, timeouts=timeouts)
    return caught.value


@both
async def test_text_streams_and_ends_with_usage(wire: WireApi) -> None:
    found = await deltas(wire, Reply("Hello there"))
    assert "".join(d.text for d in found if isinstance(d, TextDelta)) == "Hello there"
    done, end = found[-2:]
    assert isinstance(done, PartDone)
    assert (done.kind, done.content) == ("assistant", "Hello there")
    assert end == ResponseDone(Usage(input=10, cached=4, output=5, reasoning=2), "stop")


@both
async def test_each_part_is_done_before_the_next_begins(wire: WireApi) -> None:
    calls = (Call("look", '{"a": 1}', "a"), Call("look", "{broken", "b"))
    found = await deltas(wire, Reply("Looking", calls, reasoning="Hm"))
    parts = [d for d in found if isinstance(d, PartDone)]
    assert [(p.kind, p.content, p.call_id) for p in parts] == [
        ("reasoning", "Hm", None),
        ("assistant", "Looking", None),
        ("tool_call", '{"a": 1}', "a"),
        ("tool_call", "{broken", "b"),
    ]
    assert isinstance(found[0], ReasoningDelta)
    assert found.index(parts[0]) < next(i for i, d in enumerate(found) if isinstance(d, TextDelta))
    pieces = [(d.index, d.name, d.arguments) for d in found if isinstance(d, CallDelta)]
    assert "".join(p[2] for p in pieces if p[0] == 0) == '{"a": 1}'
    assert "".join(p[2] for p in pieces if p[0] == 1) == "{broken"
    assert {p[1] for p in pieces} == {"look"}
    assert isinstance(found[-1], ResponseDone)
    assert found[-1].stop == "tool_calls"


@both
async def test_reasoning_comes_back_in_the_next_request(wire: WireApi) -> None:
    async with served(wire, [Reply("Yes", reasoning="Hm"), Reply("Yes")]) as (server, model):
        first = [d async for d in model.stream(asks()) if isinstance(d, PartDone)]
        items = [
            Item(
                n=n,
                kind=part.kind,
                content=part.content,
                response=1,
                origin=Origin("fake", "m"),
                opaque=part.opaque,
            )
            for n, part in enumerate(first, 2)
        ]
        follow = Item(n=9, kind="user", content="Sure?")
        assert [d async for d in model.stream(asks(PROMPT, *items, follow))]
    if wire == "chat":
        assert server.bodies[1]["messages"][2]["reasoning_content"] == "Hm"
    else:
        assert server.bodies[1]["input"][1]["encrypted_content"] == "c2VjcmV0"


async def test_a_chat_request_carries_what_it_should() -> None:
    async with FakeOpenAI([Reply("Hi")]) as server:
        model = HttpProvider(
            "fake", server.url, "key", "chat", headers={"x-title": "p"}, extra={"top_k": 9}
        )
        request = asks(reasoning_effort="low", headers={"x-turn": "1"})
        assert [d async for d in model.stream(request)]
        await model.close()
    (sent,) = server.requests
    assert sent.headers["authorization"] == "Bearer key"
    assert (sent.headers["x-title"], sent.headers["x-turn"]) == ("p", "1")
    assert sent.body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert sent.body["tools"][0]["function"]["name"] == "look"
    assert sent.body["stream_options"] == {"include_usage": True}
    assert (sent.body["top_k"], sent.body["reasoning_effort"]) == (9, "low")


async def test_a_responses_request_leaves_nothing_with_the_server() -> None:
    async with served("responses", [Reply("Hi")]) as (server, model):
        assert [d async for d in model.stream(asks(reasoning_effort="low"))]
    body = server.bodies[0]
    assert body["store"] is False
    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["instructions"] == "Be brief."
    assert body["reasoning"] == {"summary": "auto", "effort": "low"}


@pytest.mark.parametrize(
    ("wire", "field", "status", "complaint"),
    [
        ("chat", "stream_options", 400, "Unrecognized request argument: stream_options"),
        (
            "chat",
            "stream_options",
            422,
            "body.stream_options.include_usage: extra_forbidden",
        ),
        ("responses", "include", 400, "Encrypted content is not supported with this model."),
        ("responses", "reasoning", 400, "Unsupported parameter: 'reasoning.summary'"),
        ("responses", "reasoning", 400, "Unknown parameter: 'reasoning'."),
    ],
)
async def test_a_field_that_is_not_known_is_left_out_from_then_on(
    wire: WireApi, field: str, status: int, complaint: str
) -> None:
    refusal = Reply(status=status, body={"error": {"message": complaint}})
    async with served(wire, [refusal, Reply("Hi"), Reply("Hi")]) as (server, model):
        for _ in range(2):
            assert [d async for d in model.stream(asks())]
    assert [field in body for body in server.bodies] == [True, False, False]


async def test_the_effort_that_was_asked_for_stays_when_the_summary_goes() -> None:
    refusal = Reply(
        status=400,
        body={
            "error": {
                "message": "Your organization must be verified to generate reasoning summaries."
            }
        },
    )
    async with served("responses", [refusal, Reply("Hi")]) as (server, model):
        assert [d async for d in model.stream(asks(reasoning_effort="high"))]
    assert server.bodies[1]["reasoning"] == {"effort": "high"}


@both
async def test_a_reply_that_was_too_long_says_so(wire: WireApi) -> None:
    end = (await deltas(wire, Reply("Hello", finish="length")))[-1]
    assert isinstance(end, ResponseDone)
    assert end.stop == "length"


@both
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (OVERFLOW, ContextOverflow),
        (Reply(status=401, body={"error": {"message": "Incorrect API key"}}), AuthenticationFailed),
        (Reply(status=429, body={"error": {"message": "slow"}}), RateLimited),
        (Reply(status=500, body="oops"), Overloaded),
        (Reply(status=404, body="<html>nginx</html>"), RequestRejected),
        (Reply(body="<!doctype html><title>Sign in</title>"), RequestRejected),
        (Reply(body={"error": "Unexpected endpoint or method."}), RequestRejected),
        (Reply(body={"choices": []}), MalformedStream),
        (Reply(body="{"), MalformedStream),
        (Reply("Hello", finish="content_filter"), ContentRefused),
        (Reply(events=[b"data: {garbage\n\n"]), MalformedStream),
        (Reply(events=[b"data: \xff\xfe\n\n"]), MalformedStream),
        (Reply(events=[b"data: 17\n\n"]), MalformedStream),
        (Reply(events=[b"\x00\x01\x02 what is this"]), NetworkError),
        (Reply(events=[]), NetworkError),
        (Reply("Hello there", cut_after=2), NetworkError),
        (Reply(events=[data({"error": {"message": "boom", "code": 502}})]), Overloaded),
    ],
)
async def test_whatever_a_server_does_is_one_of_the_errors(
    wire: WireApi, reply: Reply, kind: type[ProviderError]
) -> None:
    if wire == "responses" and reply.events and b'"error"' in reply.events[0]:
        reply = Reply(events=[data({"type": "error", "code": "server_error", "message": "boom"})])
    error = await failure(wire, reply)
    assert type(error) is kind
    assert "127.0.0.1" in str(error) or kind is ContextOverflow


async def test_an_end_without_a_finish_reason_is_not_an_answer() -> None:
    events = [data({"choices": [{"delta": {"content": "Hi"}}]}), b"data: [DONE]\n\n"]
    assert type(await failure("chat", Reply(events=events))) is MalformedStream


async def test_an_overflow_may_come_inside_a_responses_stream() -> None:
    error = {
        "code": "context_length_exceeded",
        "message": "Your input exceeds the context window of this model.",
    }
    events = [data({"type": "response.failed", "response": {"error": error}})]
    assert type(await failure("responses", Reply(events=events))) is ContextOverflow


async def test_the_key_that_was_refused_is_named() -> None:
    error = await failure("chat", Reply(status=401, body={"error": {"message": "no"}}))
    assert str(error).endswith("refused the key in A_KEY: no")


async def test_nobody_there() -> None:
    async with FakeOpenAI() as server:
        pass
    model = HttpProvider("fake", server.url, None, "chat")
    with pytest.raises(NetworkError, match=f"No answer from {server.url}: is the server running"):
        await anext(model.stream(asks()))
    await model.close()


@both
async def test_silence_before_the_answer_and_within_it_differ(wire: WireApi) -> None:
    gate = asyncio.Event()
    short = Timeouts(first_byte=0.05, idle=30)
    error = await failure(wire, Reply("Hello there", gate=gate), short)
    assert type(error) is FirstByteTimedOut
    short = Timeouts(first_byte=30, idle=0.05)
    error = await failure(wire, Reply("Hello there", gate=gate, gate_at=2), short)
    assert type(error) is IdleTimedOut


async def test_no_connection_in_time_is_its_own_error() -> None:
    def late(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectTimeout("late", request=request)

    network = httpx2.MockTransport(late)
    model = HttpProvider("fake", "http://example.com/v1", "key", "chat", transport=network)
    with pytest.raises(ConnectTimedOut, match=r"example\.com"):
        await anext(model.stream(asks()))
    await model.close()


@both
async def test_closing_the_stream_drops_the_connection_at_once(wire: WireApi) -> None:
    async with served(wire, [Reply("Hello there", gate=asyncio.Event(), gate_at=3)]) as (
        server,
        model,
    ):
        async with aclosing(model.stream(asks())) as stream:
            async for delta in stream:
                if isinstance(delta, TextDelta):
                    break
        await asyncio.wait_for(server.dropped.wait(), 5)


async def test_cancelling_the_reader_drops_the_connection_at_once() -> None:
    async def read(stream: AsyncGenerator[Delta, None]) -> None:
        async with aclosing(stream):
            async for _ in stream:
                begun.set()

    begun = asyncio.Event()
    async with served("chat", [Reply("Hello there", gate=asyncio.Event(), gate_at=3)]) as (
        server,
        model,
    ):
        task = asyncio.create_task(read(model.stream(asks())))
        await begun.wait()
        task.cancel()
        await asyncio.wait_for(server.dropped.wait(), 5)
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_one_connection_serves_many_requests() -> None:
    async with served("chat", [Reply("a"), Reply("b")]) as (server, model):
        for _ in range(2):
            assert [d async for d in model.stream(asks())]
        assert server.connections == 1


@both
async def test_a_server_that_keeps_the_line_open_after_the_end_is_left(wire: WireApi) -> None:
    async with served(wire, [Reply("Hi", gate=asyncio.Event(), gate_at=-1)]) as (server, model):
        found = [delta async for delta in model.stream(asks())]
        await asyncio.wait_for(server.dropped.wait(), 5)
    assert isinstance(found[-1], ResponseDone)


async def test_a_connection_that_was_closed_meanwhile_is_opened_anew_once() -> None:
    gone = Reply(hang_up=True)
    assert isinstance((await deltas("chat", gone, Reply("Hi")))[-1], ResponseDone)
    with pytest.raises(NetworkError, match="broke"):
        await deltas("chat", gone, gone, Reply("Hi"))


async def test_the_wait_that_a_server_asks_for_is_kept() -> None:
    reply = Reply(status=429, body={"error": {"message": "slow"}}, headers={"Retry-After": "3"})
    assert (await failure("chat", reply)).retry_after == 3


async def test_without_a_key_none_is_sent() -> None:
    async with FakeOpenAI([Reply("Hi")]) as server:
        model = HttpProvider("fake", server.url, None, "chat")
        assert [d async for d in model.stream(asks())]
        await model.close()
    assert "authorization" not in server.requests[0].headers


async def test_a_base_url_that_is_none() -> None:
    model = HttpProvider("fake", "localhost:1234", None, "chat")
    with pytest.raises(RequestRejected, match="not a base URL"):
        await anext(model.stream(asks()))
    await model.close()


def test_the_sdk_is_not_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, pinfold.providers.http_provider as m\n"
        "m.HttpProvider('x', 'http://127.0.0.1:1/v1', None, 'chat')\n"
        "print([n for n in ('openai', 'httpx2', 'httpx2', 'pydantic') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("wire", "fields"),
    [
        ("chat", {"model", "messages", "tools"}),
        ("responses", {"model", "input", "instructions", "tools"}),
    ],
)
async def test_a_server_that_counts_is_asked_with_what_makes_tokens(
    wire: WireApi, fields: set[str]
) -> None:
    async with served(wire, [Reply("Yes")]) as (server, model):
        server.counts = [42, 43]
        assert [await model.count(asks()), await model.count(asks())] == [42, 43]
        assert [d async for d in model.stream(asks())]
    asked, sent = server.counted[0].body, server.bodies[0]
    assert asked == {name: sent[name] for name in fields}
    assert server.counted[0].path == server.requests[0].path + "/input_tokens"


@both
@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=404, body={"error": "no such page"}),
        Reply(status=400, body={"error": {"message": "unknown"}}),
        Reply(status=500),
        Reply(body={"error": "Unexpected endpoint. Returning 200 anyway"}),
        Reply(body="<html>"),
        Reply(body=[1]),
    ],
)
async def test_a_server_that_cannot_count_is_asked_once(wire: WireApi, reply: Reply) -> None:
    async with served(wire) as (server, model):
        server.counts = [reply, 42]
        assert [await model.count(asks()), await model.count(asks())] == [None, None]
    assert len(server.counted) == 1


@both
async def test_a_connection_that_was_closed_meanwhile_does_not_end_the_counting(
    wire: WireApi,
) -> None:
    async with served(wire) as (server, model):
        server.counts = [Reply(hang_up=True), 42]
        assert await model.count(asks()) == 42


async def test_chat_servers_far_away_are_not_asked_to_count() -> None:
    network = httpx2.MockTransport(lambda _: httpx2.Response(200, json={"input_tokens": 42}))
    model = HttpProvider("x", "https://api.example/v1", "key", "chat", transport=network)
    assert await model.count(asks()) is None
    await model.close()


@both
async def test_a_line_without_an_end_is_given_up(wire: WireApi) -> None:
    line = Reply(events=[b"data: ", *[b"x" * 2**20] * 20])
    with pytest.raises(ProviderError, match=r"sent a line of more than 16 MB$") as caught:
        await deltas(wire, line)
    assert not caught.value.retryable


def moved(url: str, status: int = 307) -> Reply:
    return Reply(status=status, headers={"location": url})


@both
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_nothing_follows_a_redirect_to_another_origin(wire: WireApi, status: int) -> None:
    async with FakeOpenAI([Reply("Yours truly")]) as other:
        path = "/chat/completions" if wire == "chat" else "/responses"
        async with served(wire, [moved(other.url + path, status)]) as (server, model):
            server.counts = [moved(other.url + path + "/input_tokens", status)]
            assert await model.count(asks()) is None
            with pytest.raises(RequestRejected) as caught:
                assert [d async for d in model.stream(asks())]
        assert other.connections == 0
    assert f"127.0.0.1:{server.port} redirects to http://127.0.0.1:{other.port}" in str(
        caught.value
    )


async def test_nor_does_a_compaction() -> None:
    async with FakeOpenAI() as other, served("responses") as (server, model):
        server.compactions = [moved(other.url + "/responses/compact")]
        with pytest.raises(RequestRejected, match="redirects to"):
            await model.compact(asks())
        assert other.connections == 0


@both
async def test_a_redirect_within_the_server_is_followed(wire: WireApi) -> None:
    path = "/v2/chat/completions" if wire == "chat" else "/v2/responses"
    found = await deltas(wire, moved(path), Reply("Here."))
    assert [d.content for d in found if isinstance(d, PartDone)] == ["Here."]
