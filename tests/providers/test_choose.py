from collections.abc import Mapping
from typing import Any

import pytest

from fakes.openai_server import FakeOpenAI, Reply
from pinfold.ports.provider import ModelInfo, Request, ResponseDone
from pinfold.providers.choose import StartModel, WantedModel, choose, connect
from pinfold.providers.presets import Endpoint, LocalServer
from pinfold.rollout.context import Context
from pinfold.rollout.items import Item

SMALL = ModelInfo("small", "embedded", 8_192, "server", tools=False)
PAGES = {
    "/v1/models": {"data": [{"id": "first", "max_model_len": 5_000}, {"id": "gpt-4o"}]},
}


async def chosen(
    wish: WantedModel | None = None,
    env: Mapping[str, str] | None = None,
    *,
    local: tuple[LocalServer, ...] = (),
    embedded: ModelInfo | None = SMALL,
) -> StartModel:
    return await choose(
        wish or WantedModel(), env or {}, embedded=lambda: embedded, local_servers=local
    )


def told(choice: StartModel) -> tuple[str, str, int, str]:
    assert choice.model
    model = choice.model
    return model.provider, model.name, model.context_window, model.window_source


async def test_what_is_named_comes_first_and_an_explicit_choice_asks_nobody() -> None:
    async with FakeOpenAI(pages=PAGES) as server:
        wish = WantedModel(
            "mine", "x", 9_000, providers={"mine": Endpoint(server.url, "MY_KEY")}, sure=True
        )
        choice = await chosen(wish, {"OPENAI_API_KEY": "k", "MY_KEY": "mine"})
        assert server.connections == 0
    assert told(choice) == ("mine", "x", 9_000, "config")
    assert choice.api_key == "mine"
    assert choice.why == f"x at 127.0.0.1:{server.port}: chosen in the config file."
    assert "mine'" not in repr(choice).replace("provider='mine'", "")


async def test_where_a_window_was_learned_the_server_is_asked_all_the_same() -> None:
    pages = {"/v1/models": {"data": [{"id": "x", "max_model_len": 5_000}]}}
    async with FakeOpenAI(pages=pages) as server:
        providers = {"mine": Endpoint(server.url)}
        wish = WantedModel("mine", "x", 9_000, providers=providers, ask=frozenset({"mine"}))
        choice = await chosen(wish)
    assert told(choice) == ("mine", "x", 9_000, "config")
    assert choice.reported == 5_000


MANY = {"/v1/models": {"data": [{"id": f"maker/model-{n}"} for n in range(20)]}}


@pytest.mark.parametrize(
    ("pages", "model", "hint"),
    [
        (PAGES, "gpt-4p", "; did you mean gpt-4o?"),
        (PAGES, "ghost/x", "; there are first, gpt-4o."),
        (PAGES, "opneai/gpt-5", "; did you mean openai/gpt-5?"),
        (MANY, "model_7", "; did you mean maker/model-7?"),
        (MANY, "zzz", "maker/model-11 and 8 more."),
        ({"/v1/models": {"data": [{"id": "only", "owned_by": "vllm"}]}}, "x", "; there are only."),
    ],
)
async def test_a_model_that_the_server_does_not_list_is_not_there(
    pages: dict[str, Any], model: str, hint: str
) -> None:
    async with FakeOpenAI(pages=pages) as server:
        choice = await chosen(WantedModel(model=model, providers={"mine": Endpoint(server.url)}))
    assert choice.kind == "wrong"
    assert choice.why.startswith(f"127.0.0.1:{server.port} has no model {model}; ")
    assert choice.why.endswith(hint)


def listing(name: str) -> dict[str, Any]:
    return {"/v1/models": {"data": [{"id": name, "max_model_len": 5_000}, {"id": "other"}]}}


LLAMA = {"/v1/models": {"data": [{"id": "/m.gguf", "owned_by": "llamacpp", "n_ctx": 5_000}]}}
HIDDEN = {**PAGES, "/v1/models/hidden": {"id": "hidden", "context_window": 7_000}}


@pytest.mark.parametrize(
    ("pages", "asked", "expected"),
    [
        (PAGES, None, ("first", 5_000, "server")),
        (PAGES, "gpt-4o", ("gpt-4o", 128_000, "table")),
        (HIDDEN, "hidden", ("hidden", 7_000, "server")),  # not listed: it has its own page
        (LLAMA, "mine", ("mine", 5_000, "server")),  # llama.cpp serves its model under any name
        (listing("llama3:latest"), "llama3", ("llama3", 5_000, "server")),
        (listing("models/gemini-2.5-pro"), "gemini-2.5-pro", ("gemini-2.5-pro", 5_000, "server")),
        (listing("claude-4-5-20250929"), "claude-4-5", ("claude-4-5", 5_000, "server")),
        (listing("grok-4-0709"), "grok-4-latest", ("grok-4-latest", 5_000, "server")),
        (listing("qwen/qwen3"), "qwen/qwen3:free", ("qwen/qwen3:free", 5_000, "server")),
        (listing("Qwen3-Coder"), "qwen3-coder", ("qwen3-coder", 5_000, "server")),
    ],
)
async def test_a_model_and_its_window_come_from_the_server_or_the_table(
    pages: dict[str, Any], asked: str | None, expected: tuple[str, int, str]
) -> None:
    async with FakeOpenAI(pages=pages) as server:
        choice = await chosen(WantedModel(model=asked, providers={"mine": Endpoint(server.url)}))
    assert told(choice) == ("mine", *expected)


async def test_a_key_that_is_not_set_is_told() -> None:
    endpoint = Endpoint("http://127.0.0.1:9/v1", "MY_KEY")
    for wish, name in (
        (WantedModel("mine", providers={"mine": endpoint}), "MY_KEY"),
        (WantedModel(model="x", providers={"mine": endpoint}, sure=True), "MY_KEY"),
        (WantedModel("openai", "gpt-5"), "OPENAI_API_KEY"),
        (WantedModel("groq"), "GROQ_API_KEY"),
    ):
        for env in ({}, {name: ""}):
            choice = await chosen(wish, env)
            assert choice.kind == "wrong"
            assert choice.why.startswith(f"{name} is not set; ")


async def test_no_key_is_wanted_where_a_header_or_another_address_stands_for_it() -> None:
    async with FakeOpenAI(pages=PAGES) as server:
        endpoint = Endpoint(server.url, "MY_KEY", headers={"Authorization": "Basic eA=="})
        choice = await chosen(WantedModel("mine", providers={"mine": endpoint}))
        assert told(choice)[:2] == ("mine", "first")
        choice = await chosen(WantedModel("openai", "first"), {"OPENAI_BASE_URL": server.url})
        assert told(choice)[:2] == ("openai", "first")


async def test_a_configured_server_that_is_silent_is_chosen_all_the_same_and_told() -> None:
    async with FakeOpenAI() as server:
        pass
    wish = WantedModel(model="gpt-4o", providers={"mine": Endpoint(server.url)})
    choice = await chosen(wish)
    assert told(choice) == ("mine", "gpt-4o", 128_000, "table")
    assert "its list of models is not available" in choice.why


@pytest.mark.parametrize("more", [{}, {"GROQ_API_KEY": "g"}])
async def test_a_key_in_the_environment(more: dict[str, str]) -> None:
    choice = await chosen(env={"OPENAI_API_KEY": "k", **more})
    assert told(choice) == ("openai", "gpt-6.2-sol", 922_000, "table")
    assert choice.endpoint
    assert choice.endpoint.wire_api == "responses"
    assert choice.why == "gpt-6.2-sol at api.openai.com: OPENAI_API_KEY is set."


@pytest.mark.parametrize(
    ("variable", "provider"),
    [
        ("OPENROUTER_API_KEY", "openrouter"),
        ("MISTRAL_API_KEY", "mistral"),
        ("DEEPSEEK_API_KEY", "deepseek"),
        ("GROQ_API_KEY", "groq"),
        ("ANTHROPIC_API_KEY", "anthropic"),
    ],
)
async def test_each_service_has_a_model_that_the_table_knows(variable: str, provider: str) -> None:
    choice = await chosen(WantedModel(context_window=10_000, provider=provider), {variable: "k"})
    assert choice.model
    assert choice.api_key == "k"
    assert choice.endpoint
    assert choice.endpoint.wire_api == "chat"
    assert (await chosen(WantedModel(context_window=10_000), {variable: "k"})).model == choice.model


async def test_a_base_url_in_the_environment_counts_alone() -> None:
    async with FakeOpenAI(pages=PAGES) as server:
        choice = await chosen(env={"OPENAI_BASE_URL": server.url})
    assert told(choice) == (f"127.0.0.1:{server.port}", "first", 5_000, "server")
    assert choice.why.endswith("OPENAI_BASE_URL is set.")


async def test_a_local_server_that_answers_is_next_in_order_of_preference() -> None:
    async with FakeOpenAI() as gone, FakeOpenAI(pages=PAGES) as one, FakeOpenAI(pages=PAGES) as two:
        await gone.__aexit__()
        local = (
            LocalServer("a", "A", gone.port),
            LocalServer("b", "B", one.port),
            LocalServer("c", "C", two.port),
        )
        choice = await chosen(local=local)
    assert told(choice) == ("b", "first", 5_000, "server")
    assert "B answers there" in choice.why


async def test_something_else_on_the_port_is_not_a_model() -> None:
    async with FakeOpenAI(pages={"/v1/models": Reply(body="<html>my app</html>")}) as server:
        choice = await chosen(local=(LocalServer("a", "A", server.port),))
    assert choice.kind == "embedded"


async def test_the_embedded_model_has_no_larger_window_than_its_server() -> None:
    choice = await chosen(WantedModel(context_window=200_000))
    assert choice.model == SMALL
    assert "takes 8,192 tokens" in choice.why
    assert "asks for 200,000" in choice.why


async def test_the_embedded_model_can_have_a_smaller_window() -> None:
    choice = await chosen(WantedModel(context_window=4_096))
    assert choice.model is not None
    assert (choice.model.context_window, choice.model.window_source) == (4_096, "config")
    assert "4,096" not in choice.why


async def test_the_embedded_model_is_last() -> None:
    choice = await chosen()
    assert (choice.kind, choice.model) == ("embedded", SMALL)
    assert "no key is set" in choice.why


async def test_nothing_at_all_says_how_to_get_a_model() -> None:
    choice = await chosen(embedded=None)
    assert choice.kind == "none"
    assert "pinfold local setup" in choice.how_to_change


async def test_a_model_that_was_named_is_never_swapped_for_another() -> None:
    choice = await chosen(WantedModel(model="gpt-9", source="flag"))
    assert choice.kind == "wrong"
    assert "gpt-9" in choice.why
    async with FakeOpenAI(pages=PAGES) as server:
        local = (LocalServer("a", "A", server.port),)
        assert (await chosen(WantedModel(model="gpt-4o"), local=local)).kind == "endpoint"
        choice = await chosen(WantedModel(model="gpt-4p"), local=local)
    assert choice.kind == "wrong"
    assert choice.why.endswith("; did you mean gpt-4o?")


async def test_a_provider_that_is_not_there_is_told_with_those_that_are() -> None:
    choice = await chosen(WantedModel(provider="opneai"))
    assert choice.kind == "wrong"
    assert choice.why == "There is no provider opneai; did you mean openai?"
    choice = await chosen(WantedModel(provider="zzz", providers={"mine": Endpoint("http://h/v1")}))
    assert choice.why.startswith("There is no provider zzz; there are mine, openai, ")
    assert (await chosen(WantedModel(provider="embedded"), embedded=None)).kind == "wrong"


async def test_the_choice_connects() -> None:
    async with FakeOpenAI([Reply("Hi")]) as server:
        wish = WantedModel("mine", "x", 9_000, 77, providers={"mine": Endpoint(server.url)})
        choice = await chosen(wish)
        assert choice.model
        provider = connect(choice)
        request = Request(choice.model, Context(), (Item(n=1, kind="user", content="Hello"),))
        deltas = [delta async for delta in provider.stream(request)]
        await provider.close()
    assert isinstance(deltas[-1], ResponseDone)
    assert server.bodies[0]["max_tokens"] == 77
