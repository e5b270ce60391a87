"""The embedded provider, over a child process that stands in for the model."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pinfold.ports.errors import NetworkError, RequestRejected
from pinfold.ports.provider import (
    Delta,
    ModelInfo,
    PartDone,
    Progress,
    Request,
    ResponseDone,
    TextDelta,
)
from pinfold.providers.embedded import NAME, Embedded
from pinfold.rollout.context import Context, ToolSchema
from pinfold.rollout.items import Item

CHILD = [sys.executable, str(Path(__file__).parents[1] / "fakes" / "embedded_child.py")]
MODEL = ModelInfo(NAME, "embedded", 8192, "server", max_output=512, tools=False)


def request(text: str, context: Context | None = None) -> Request:
    return Request(MODEL, context or Context(), (Item(n=1, kind="user", content=text),))


async def answer(provider: Embedded, text: str) -> list[Delta]:
    return [delta async for delta in provider.stream(request(text))]


@pytest.fixture
async def embedded() -> AsyncIterator[Embedded]:
    provider = Embedded(CHILD)
    yield provider
    await provider.close()


async def test_says_that_it_loads_once_and_then_answers(embedded: Embedded) -> None:
    first = await answer(embedded, "hello")
    again = await answer(embedded, "hello")

    loading, reading = Progress("loading the embedded model"), Progress("reading the prompt")
    assert first[:2] == [loading, reading]
    assert again[0] == reading
    assert isinstance(first[-1], ResponseDone)


async def test_sends_no_tools_and_asks_for_at_most_512_tokens(embedded: Embedded) -> None:
    tools = (ToolSchema("shell", "runs", {"type": "object"}),)
    sent = ""
    async for delta in embedded.stream(request("hello", Context(tools=tools))):
        if isinstance(delta, PartDone):
            sent = delta.content

    body = json.loads(sent)
    assert "tools" not in body
    assert body["max_tokens"] == 512
    assert body["authorization"] == "Bearer secret"


async def test_warm_loads_before_the_first_request(embedded: Embedded) -> None:
    await embedded.warm()

    assert (await answer(embedded, "hello"))[0] == Progress("reading the prompt")


async def test_counts_once_it_is_loaded_and_leaves_tools_out(embedded: Embedded) -> None:
    tools = (ToolSchema("shell", "runs", {"type": "object"}),)
    asked = request("hello", Context(tools=tools))
    assert await embedded.count(asked) is None

    await embedded.warm()
    assert await embedded.count(asked) == len({"model", "messages"})


async def test_a_child_that_dies_is_told_and_started_again(embedded: Embedded) -> None:
    deltas = embedded.stream(request("die"))
    while await anext(deltas) != TextDelta("half"):
        pass
    with pytest.raises(NetworkError, match=r"exit code 3\): 0.01 E out of memory"):
        await anext(deltas)

    assert isinstance((await answer(embedded, "hello"))[-1], ResponseDone)


async def test_a_child_that_cannot_load_says_why_and_is_not_worth_a_retry() -> None:
    script = """print('{"error": "no such file"}', flush=True)"""
    with pytest.raises(RequestRejected, match="failed to load: no such file"):
        await answer(Embedded([sys.executable, "-c", script]), "hello")


async def test_a_child_that_ends_without_a_word_is_a_network_error() -> None:
    with pytest.raises(NetworkError, match=r"exit code 1\): ZeroDivisionError"):
        await answer(Embedded([sys.executable, "-c", "1 / 0"]), "hello")


async def test_a_child_that_cannot_be_started_is_told() -> None:
    with pytest.raises(RequestRejected, match=r"failed to start: .*no-such-program"):
        await answer(Embedded(["no-such-program"]), "hello")


async def test_an_interrupted_load_goes_on_for_the_next_request(embedded: Embedded) -> None:
    waiting = asyncio.create_task(answer(embedded, "hello"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    await embedded.warm()
    assert (await answer(embedded, "hello"))[0] == Progress("reading the prompt")


async def test_close_while_it_loads_ends_the_child(tmp_path: Path) -> None:
    started, ended = tmp_path / "started", tmp_path / "ended"
    script = (
        "import pathlib, sys; started, ended = map(pathlib.Path, sys.argv[1:]); "
        "started.touch(); sys.stdin.read(); ended.touch()"
    )
    provider = Embedded([sys.executable, "-c", script, str(started), str(ended)])
    loading = asyncio.create_task(provider.warm())
    async with asyncio.timeout(20):
        while not started.exists():
            await asyncio.sleep(0.01)

    await provider.close()

    assert ended.exists()
    with pytest.raises(asyncio.CancelledError):
        await loading


async def test_close_before_any_use_starts_nothing() -> None:
    await Embedded(["no-such-program"]).close()


@pytest.mark.parametrize("said", ["llama says hi", "[1]", "{}", "x" * 100_000])
async def test_a_child_that_does_not_say_where_it_serves_is_told(said: str) -> None:
    provider = Embedded([sys.executable, "-c", "import sys; print(sys.argv[1])", said])
    with pytest.raises(RequestRejected, match="The embedded model"):
        await provider.warm()
    await provider.close()
