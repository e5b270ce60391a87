import asyncio
from typing import Any

import pytest

from fakes.openai_server import FakeOpenAI, Reply
from pinfold.providers.metadata import ServerModel, server_models


async def listed(pages: dict[str, Any]) -> tuple[ServerModel, ...]:
    async with FakeOpenAI(pages=pages) as server:
        return (await server_models(server.url, "key", 5)).models


@pytest.mark.parametrize(
    ("entry", "window", "output"),
    [
        ({"owned_by": "llamacpp", "meta": {"n_ctx": 2048, "n_ctx_train": 8192}}, 2048, None),
        ({"owned_by": "llamacpp", "meta": {"n_ctx_train": 8192}}, 8192, None),
        ({"owned_by": "vllm", "max_model_len": 16384}, 16384, None),
        (
            {
                "context_length": 200_000,
                "top_provider": {"context_length": 128_000, "max_completion_tokens": 8_000},
            },
            128_000,
            8_000,
        ),
        ({"context_window": 131_072, "max_completion_tokens": 32_768}, 131_072, 32_768),
        ({"max_context_length": 32_768}, 32_768, None),
        ({"context_length": None, "max_model_len": "many", "context_window": True}, None, None),
    ],
)
async def test_windows_as_servers_tell_them(
    entry: dict[str, Any], window: int | None, output: int | None
) -> None:
    pages = {"/v1/models": {"data": [{"id": "m", **entry}]}}
    assert await listed(pages) == (ServerModel("m", window, output),)


async def test_llama_cpp_tells_its_window_among_its_props() -> None:
    pages = {
        "/v1/models": {"data": [{"id": "m", "owned_by": "llamacpp"}]},
        "/props": {"default_generation_settings": {"n_ctx": 4096}},
    }
    assert await listed(pages) == (ServerModel("m", 4096),)


async def test_lm_studio_s_loaded_model_stands_first() -> None:
    entries = [
        {"id": "a", "type": "llm", "state": "not-loaded", "max_context_length": 32_768},
        {"id": "e", "type": "embeddings", "state": "not-loaded", "max_context_length": 2_048},
        {
            "id": "b",
            "type": "llm",
            "state": "loaded",
            "max_context_length": 131_072,
            "loaded_context_length": 4_096,
        },
    ]
    pages = {
        "/v1/models": {"data": [{"id": i, "owned_by": "organization_owner"} for i in "aeb"]},
        "/api/v0/models": {"data": entries},
    }
    assert await listed(pages) == (ServerModel("b", 4_096), ServerModel("a", 32_768))


async def test_ollama_s_loaded_model_stands_first() -> None:
    pages = {
        "/v1/models": {"data": [{"id": i, "owned_by": "library"} for i in "ab"]},
        "/api/ps": {"models": [{"name": "b", "model": "b", "context_length": 4_096}]},
    }
    assert await listed(pages) == (ServerModel("b", 4_096), ServerModel("a"))


async def test_models_that_embed_text_are_left_out() -> None:
    assert await listed({"/v1/models": {"data": [{"id": "nomic-embed-text"}]}}) == ()


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (Reply(status=401, body={"error": "no"}), "status 401"),
        (Reply(body="<html>"), "JSON"),
        ({"data": []}, "no models"),
        ({"data": {"id": "m"}}, "no models"),
        ([17], "no models"),
    ],
)
async def test_an_answer_of_no_use_gives_the_reason(page: Any, reason: str) -> None:
    async with FakeOpenAI(pages={"/v1/models": page}) as server:
        found = await server_models(server.url, None, 5)
    assert found.models == ()
    assert reason in found.reason


async def test_a_server_that_hangs_is_given_up() -> None:
    async def hang(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    found = await server_models(f"http://127.0.0.1:{port}/v1", None, 0.05)
    server.close()
    assert found.reason == "no answer within 0.05 s"
