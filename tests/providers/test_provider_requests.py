"""What a request asks of a server besides its window: a schema, a limit, headers."""

import json
from collections.abc import Iterable
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace

from fakes.openai_server import FakeOpenAI, Recorded, Reply
from pinfold.ports.errors import ContextOverflow, ProviderError
from pinfold.ports.provider import Delta, ModelInfo, PartDone, Request
from pinfold.providers.choose import StartModel, connect
from pinfold.providers.http_provider import HttpProvider
from pinfold.providers.presets import Endpoint
from pinfold.rollout.context import Context, ToolSchema
from pinfold.rollout.items import Item, Origin
from pinfold.settings import WireApi
from pinfold.wire.chat.body import body as chat_body
from pinfold.wire.responses.body import body as responses_body

MODEL = ModelInfo("m", "fake", 8_000, "table")
SCHEMA = {
    "type": "object",
    "properties": {"task": {"type": "string"}},
    "required": ["task"],
    "additionalProperties": False,
}
METADATA = "X-Pinfold-Turn-Metadata"

both = pytest.mark.parametrize("wire", ["chat", "responses"])


def asks(**fields: Any) -> Request:
    return Request(MODEL, Context(), (Item(n=1, kind="user", content="As JSON."),), **fields)


async def sent(
    wire: WireApi, script: Iterable[Reply], *requests: Request, **options: Any
) -> list[Recorded]:
    """What the server saw of the requests."""
    async with FakeOpenAI(script) as server:
        provider = HttpProvider("fake", server.url, "key", wire, **options)
        try:
            for request in requests:
                assert [delta async for delta in provider.stream(request)]
        finally:
            await provider.close()
    return server.requests


async def bodies(wire: WireApi, script: Iterable[Reply], *requests: Request) -> list[Any]:
    return [recorded.body for recorded in await sent(wire, script, *requests)]


def refusal(message: object, status: int = 400) -> Reply:
    return Reply(status=status, body={"error": {"message": message}})


def format_of(body: dict[str, Any]) -> str | None:
    """The kind of JSON that a body asks for."""
    form = body.get("response_format") or body.get("text", {}).get("format")
    return form and str(form["type"])


async def test_a_schema_goes_out_as_each_wire_api_has_it() -> None:
    asked = asks(schema=SCHEMA)
    form = {"name": "reply", "strict": True, "schema": SCHEMA}
    (chat,) = await bodies("chat", [Reply('{"task": "x"}')], asked)
    assert chat["response_format"] == {"type": "json_schema", "json_schema": form}
    (responses,) = await bodies("responses", [Reply('{"task": "x"}')], asked)
    assert responses["text"] == {"format": {"type": "json_schema", **form}}


@both
async def test_without_a_schema_no_format_is_asked_for(wire: WireApi) -> None:
    (body,) = await bodies(wire, [Reply("Hi")], asks())
    assert not body.keys() & {"response_format", "text", "max_tokens", "max_output_tokens"}


NO_SCHEMA = [
    "This response_format type is unavailable now",  # DeepSeek
    "This model does not support response format `json_schema`.",  # Groq
    "invalid schema for response format: response_format/json_schema/x: minItems is not supported",
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    "Unsupported parameter: 'text.format' is not supported with this model.",
    "The provided JSON schema contains features not supported by xgrammar.",  # vLLM
    "Failed to initialize samplers: failed to parse grammar",  # llama.cpp
    [{"type": "extra_forbidden", "loc": ["body", "response_format"], "msg": "Extra inputs"}],
]


@both
@pytest.mark.parametrize("complaint", NO_SCHEMA)
async def test_a_server_without_schemas_is_asked_for_any_json(
    wire: WireApi, complaint: object
) -> None:
    script = [refusal(complaint), Reply("{}"), Reply("{}")]
    found = await bodies(wire, script, asks(schema=SCHEMA), asks(schema=SCHEMA))
    assert [format_of(body) for body in found] == ["json_schema", "json_object", "json_object"]


@both
async def test_a_server_without_json_modes_is_asked_in_words_alone(wire: WireApi) -> None:
    script = [
        refusal("'response_format.type' must be 'text'"),
        refusal("'response_format.type' must be 'text'", 422),
        Reply("{}"),
        Reply("{}"),
    ]
    found = await bodies(wire, script, asks(schema=SCHEMA), asks(schema=SCHEMA))
    assert [format_of(body) for body in found] == ["json_schema", "json_object", None, None]


@both
async def test_a_loose_schema_is_no_reason_to_fail(wire: WireApi) -> None:
    """OpenAI refuses objects that allow more than they name."""
    loose = {"type": "object", "properties": {"task": {"type": "string"}}}
    found = await bodies(wire, [Reply("{}")], asks(schema=loose))
    assert [format_of(body) for body in found] == ["json_schema", "json_object"]


@pytest.mark.parametrize(
    ("wire", "base_url", "field", "asked", "limit"),
    [
        ("chat", "https://api.openai.com/v1", "max_completion_tokens", 900, 900),
        ("chat", "https://api.openai.com/v1", "max_completion_tokens", 1, 16),
        ("chat", "https://api.mistral.ai/v1", "max_tokens", 900, 900),
        ("chat", "https://api.mistral.ai/v1", "max_tokens", 1, 1),
        ("responses", "https://api.openai.com/v1", "max_output_tokens", 900, 900),
        ("responses", "https://api.openai.com/v1", "max_output_tokens", 1, 16),
    ],
)
async def test_a_limit_has_the_name_and_the_least_value_that_the_server_knows(
    wire: WireApi, base_url: str, field: str, asked: int, limit: int
) -> None:
    seen: list[Any] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(json.loads(request.content))
        return httpx2.Response(400, json={"error": {"message": "enough"}})

    network = httpx2.MockTransport(answer)
    provider = HttpProvider("x", base_url, "key", wire, transport=network)
    with pytest.raises(ProviderError):
        await anext(provider.stream(asks(max_output=asked)))
    await provider.close()
    assert {k: v for k, v in seen[0].items() if k.startswith("max_")} == {field: limit}


OTHER_NAME = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)


@pytest.mark.parametrize("complaint", [OTHER_NAME, "max_tokens: Extra inputs are not permitted"])
async def test_a_limit_takes_its_other_name_and_then_goes(complaint: str) -> None:
    newer = complaint.replace("'max_tokens'", "'max_completion_tokens'").replace(
        "max_tokens:", "max_completion_tokens:"
    )
    script = [refusal(complaint), refusal(newer), Reply("Hi"), Reply("Hi")]
    found = await bodies("chat", script, asks(max_output=900), asks(max_output=900))
    limits = [[key for key in body if key.startswith("max_")] for body in found]
    assert limits == [["max_tokens"], ["max_completion_tokens"], [], []]


async def test_a_limit_that_is_not_known_goes() -> None:
    detail = [{"type": "extra_forbidden", "loc": ["body", "max_output_tokens"], "msg": "Extra"}]
    script = [refusal({"detail": detail}, 422), Reply("Hi")]
    found = await bodies("responses", script, asks(max_output=900))
    assert ["max_output_tokens" in body for body in found] == [True, False]


async def test_a_limit_that_does_not_fit_stays_an_overflow() -> None:
    complaint = (
        "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, "
        "decrease input length or `max_tokens` and try again"
    )
    with pytest.raises(ContextOverflow):
        await bodies("chat", [refusal(complaint)], asks(max_output=8192))


@both
async def test_the_smaller_of_two_limits_holds(wire: WireApi) -> None:
    found = await sent(
        wire, [Reply("a")] * 3, asks(), asks(max_output=20), asks(max_output=99), max_output=50
    )
    limits = [v for recorded in found for k, v in recorded.body.items() if k.startswith("max_")]
    assert limits == [50, 20, 50]


@pytest.mark.parametrize(("limited", "limit"), [(True, 700), (False, None)])
async def test_a_limit_that_the_user_set_goes_out_with_each_request(
    limited: bool, limit: int | None
) -> None:
    model = ModelInfo("m", "fake", 8_000, "table", max_output=700)
    async with FakeOpenAI([Reply("Hi")]) as server:
        endpoint = Endpoint(server.url)
        provider = connect(StartModel("endpoint", "", "", model, endpoint, limit_output=limited))
        assert [delta async for delta in provider.stream(asks())]
        await provider.close()
    assert server.bodies[0].get("max_tokens") == limit


async def test_a_request_that_generates_nothing_asks_to_warm_the_cache() -> None:
    cut = Reply("", finish="length")
    asked = asks(max_output=1)
    found = await bodies(
        "responses", [refusal("Unknown: prompt_cache_options"), cut, cut], *[asked] * 2
    )
    assert [body.get("prompt_cache_options") for body in found] == [{"prewarm": True}, None, None]
    assert {body["max_output_tokens"] for body in found} == {16}


@both
@pytest.mark.parametrize("name", [METADATA, METADATA.lower(), METADATA.upper()])
async def test_a_request_s_headers_win_over_configured_ones(wire: WireApi, name: str) -> None:
    mine = {METADATA.lower(): "true", "X-Title": "turn"}
    async with FakeOpenAI([Reply("Hi")]) as server:
        server.counts, server.compactions = [7], ["c2VjcmV0"]
        provider = HttpProvider(
            "fake", server.url, "key", wire, headers={name: "forged", "x-title": "p", "x-a": "b"}
        )
        request = asks(headers=mine)
        assert [delta async for delta in provider.stream(request)]
        assert await provider.count(request) == 7
        if wire == "responses":
            await provider.compact(request)
        await provider.close()
    seen = [*server.requests, *server.counted, *server.compacted]
    assert len(seen) == (3 if wire == "responses" else 2)
    for recorded in seen:
        own = [recorded.headers.get(key) for key in (METADATA.lower(), "x-title", "x-a")]
        assert own == ["true", "turn", "b"]


@both
async def test_nobody_forges_metadata_where_a_request_has_none(wire: WireApi) -> None:
    (found,) = await sent(wire, [Reply("Hi")], asks(), headers={METADATA: "forged"})
    assert METADATA.lower() not in found.headers


@both
@pytest.mark.parametrize("text", ['{"task": ', 'Sure! {"task": "x"} Bye.', "x" * 200_000])
async def test_whatever_a_structured_request_gets_comes_through_as_it_is(
    wire: WireApi, text: str
) -> None:
    def answer(request: Recorded) -> Reply | None:
        return Reply(text, piece=5_000) if format_of(request.body) else None

    async with FakeOpenAI([Reply("Hi")], answer=answer) as server:
        provider = HttpProvider("fake", server.url, "key", wire)
        structured = [delta async for delta in provider.stream(asks(schema=SCHEMA))]
        plain = [delta async for delta in provider.stream(asks())]
        await provider.close()
    assert (texts(structured), texts(plain)) == ([text], ["Hi"])


def texts(deltas: list[Delta]) -> list[str]:
    return [delta.content for delta in deltas if isinstance(delta, PartDone)]


@pytest.mark.parametrize(
    ("base_url", "choice"),
    [("https://api.openai.com/v1", "none"), ("https://openrouter.ai/api/v1", None)],
)
def test_calls_are_forbidden_only_where_the_prompt_cache_outlasts_that(
    base_url: str, choice: str | None
) -> None:
    context = Context(tools=(ToolSchema("shell", "Run it.", {"type": "object"}),))
    for body in (chat_body, responses_body):
        asked = replace(asks(text_only=True), context=context)
        assert body(asked, base_url).get("tool_choice") == choice
        assert body(asked, base_url)["tools"]
        assert "tool_choice" not in body(replace(asks(), context=context), base_url)


async def test_the_cache_key_goes_to_openai_and_no_more_where_it_is_not_known() -> None:
    asked = asks(cache_key="s1")
    for body in (chat_body, responses_body):
        assert body(asked, "https://api.openai.com/v1")["prompt_cache_key"] == "s1"
    (chat,) = await bodies("chat", [Reply("Hi")], asked)
    assert "prompt_cache_key" not in chat
    script = [refusal("Unknown parameter: 'prompt_cache_key'."), Reply("Hi"), Reply("Hi")]
    found = await bodies("responses", script, asked, asked)
    assert [value.get("prompt_cache_key") for value in found] == ["s1", None, None]


def test_anthropic_models_at_openrouter_get_marks_at_three_places() -> None:
    model = ModelInfo("anthropic/claude-sonnet-4.5", "openrouter", 200_000, "table")
    origin = Origin(provider="openrouter", model=model.name)
    call = Item(n=2, kind="tool_call", content="{}", response=1, call_id="c", name="t")
    done = Item(n=3, kind="tool_result", content="done", response=1, call_id="c", name="t")
    said = Item(n=4, kind="assistant", content="Yes.", response=2, origin=origin)
    items = (Item(n=1, kind="user", content="Go."), call, done, said)
    asked = Request(model, Context(instructions="Be brief."), items)
    more = (*items, Item(n=5, kind="user", content="On."))

    def places(base_url: str, request: Request) -> list[str]:
        body = chat_body(request, base_url)
        contents = [(message["role"], message["content"]) for message in body["messages"]]
        return [role for role, parts in contents if isinstance(parts, list) and _marks(parts)]

    there = "https://openrouter.ai/api/v1"
    assert places(there, asked) == ["system", "tool"]
    assert places(there, replace(asked, items=more)) == ["system", "tool", "user"]
    assert places(there, replace(asked, model=replace(model, name="openai/gpt-5"))) == []
    assert places("https://api.anthropic.com/v1", asked) == []


def _marks(parts: list[dict[str, Any]]) -> bool:
    return parts[-1].get("cache_control") == {"type": "ephemeral"}
