"""Which model a session begins with, and why."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import urlsplit

from msgspec import structs

from pinfold.closest import nearest, shown, suggestion
from pinfold.ports.provider import ModelInfo, WindowSource
from pinfold.providers.http_provider import HttpProvider
from pinfold.providers.metadata import ServerModels, server_models
from pinfold.providers.presets import LOCAL_SERVERS, SERVICES, Endpoint, LocalServer
from pinfold.settings import WireApi
from pinfold.tokens.catalog import look_up
from pinfold.wire.caching import is_openai
from pinfold.wire.wires import default_api

LOCAL_SECONDS = 0.5
"""Time for all local servers together to answer."""
ASKED_SECONDS = 3.0
"""Time for the chosen server to answer."""
WHERE = "/model, --model, or [model] in config.toml"
HOW = f"Change it with {WHERE}."
_CHOSEN = {
    "flag": "chosen by a flag",
    "environment": "chosen by a PINFOLD_ variable",
    "config": "chosen in the config file",
    "name": "chosen by name",
}
UNLISTED = "If the server has it anyway, set its context_window where you name it."


@dataclass(frozen=True, slots=True)
class WantedModel:
    """What flags, environment and config say of the model, already merged."""

    provider: str | None = None
    model: str | None = None
    context_window: int | None = None
    max_output: int | None = None
    providers: Mapping[str, Endpoint] = field(default_factory=dict)
    source: Literal["flag", "environment", "config", "name"] = "config"
    """Where provider or model were named; `name` is in the session, as with /model."""
    sure: bool = False
    """The window was given with the model, so the server need not be asked whether it has it."""
    ask: frozenset[str] = frozenset()
    """Providers that are asked for their windows though `context_window` names one."""


@dataclass(frozen=True, slots=True)
class StartModel:
    """The model to begin with. `endpoint` and `model` are there unless `kind` says otherwise."""

    kind: Literal["endpoint", "embedded", "none", "wrong"]
    """`none`: there is no model; `wrong`: not the one that the user asked for."""
    why: str
    """One sentence."""
    how_to_change: str = HOW
    model: ModelInfo | None = None
    endpoint: Endpoint | None = None
    api_key: str | None = field(default=None, repr=False)
    limit_output: bool = False
    """Whether the user set `max_output`, so that it goes out with each request."""
    reported: int | None = None
    """The context window that the server reports, used or not."""
    unlearned: ModelInfo | None = None
    """The model with its own window, if a learned one replaces that."""


async def choose(
    wish: WantedModel,
    env: Mapping[str, str],
    *,
    embedded: Callable[[], ModelInfo | None],
    local_servers: Sequence[LocalServer] = LOCAL_SERVERS,
) -> StartModel:
    """The wish, else a key in the environment, else a local server, else the embedded model.

    `embedded` gives the embedded model where it is installed. Where nothing will do, the choice
    is of kind "none" or "wrong" and says why.
    """
    if wish.provider == "embedded":
        return _embedded(embedded(), wish, _CHOSEN[wish.source])
    if wish.provider or wish.providers:
        return await _configured(wish, env, local_servers)
    if (base_url := env.get("OPENAI_BASE_URL")) and not _is_address(base_url):
        return StartModel(
            "wrong", f"OPENAI_BASE_URL is {base_url!r}, which is not an http address."
        )
    if found := _from_key(env):
        name, endpoint, default, because = found
        return await _endpoint(wish, env, name, endpoint, default, because)
    local = await _local(local_servers)
    for server, listed in local:
        if wish.model is None or listed.find(wish.model):
            because = f"{server.title} answers there and no provider or key is set"
            return _settle(wish, env, server.name, Endpoint(server.base_url), None, because, listed)
    nothing = "no provider is configured, no key is set and no local server answers"
    if wish.model:
        names = [model.name for _, listed in local for model in listed.models]
        nothing = "no local server has it" if local else nothing
        hint = _suggestion(wish, names)
        return StartModel(
            "wrong", _sentence(f"Nothing serves {shown(wish.model)}: {nothing}{hint}")
        )
    return _embedded(embedded(), wish, nothing)


def connect(choice: StartModel) -> HttpProvider:
    """The provider of a choice of kind "endpoint"; nothing is opened yet."""
    assert choice.endpoint is not None
    assert choice.model is not None
    endpoint = choice.endpoint
    wire_api = _wire_api(endpoint)
    return HttpProvider(
        choice.model.provider,
        endpoint.base_url,
        choice.api_key,
        wire_api,
        key_env=endpoint.api_key_env or "",
        timeouts=endpoint.timeouts,
        headers=endpoint.headers,
        max_output=choice.model.max_output if choice.limit_output else None,
    )


async def _configured(
    wish: WantedModel, env: Mapping[str, str], local_servers: Sequence[LocalServer]
) -> StartModel:
    name = wish.provider or next(iter(wish.providers))
    because = _CHOSEN[wish.source]
    default = None
    keyless = False
    if name in wish.providers:
        endpoint = wish.providers[name]
        keyless = "authorization" in map(str.lower, endpoint.headers)
    elif name in SERVICES:
        endpoint, default = SERVICES[name].endpoint, SERVICES[name].model
        if name == "openai" and (base_url := env.get("OPENAI_BASE_URL")):
            endpoint, keyless = replace(endpoint, base_url=base_url), True
    elif server := next(
        (local_server for local_server in local_servers if local_server.name == name), None
    ):
        endpoint = Endpoint(server.base_url)
    else:
        hint = suggestion(name, provider_names(wish))
        return StartModel("wrong", _sentence(f"There is no provider {shown(name)}{hint}"))
    variable = endpoint.api_key_env
    if variable and not env.get(variable) and not keyless:
        why = f"{variable} is not set; it holds the key of {shown(name)}."
        return StartModel("wrong", why, f"Set it, or choose another model: {WHERE}.")
    return await _endpoint(wish, env, name, endpoint, default, because)


def _from_key(env: Mapping[str, str]) -> tuple[str, Endpoint, str | None, str] | None:
    """Name, endpoint, model to begin with, and reason, where a variable names a service."""
    if (base_url := env.get("OPENAI_BASE_URL")) and not is_openai(base_url):
        endpoint = Endpoint(base_url, "OPENAI_API_KEY")
        return urlsplit(base_url).netloc, endpoint, None, "OPENAI_BASE_URL is set"
    for name, preset in SERVICES.items():
        if preset.endpoint.api_key_env and env.get(preset.endpoint.api_key_env):
            because = f"{preset.endpoint.api_key_env} is set"
            return name, preset.endpoint, preset.model, because
    return None


async def _endpoint(
    wish: WantedModel,
    env: Mapping[str, str],
    name: str,
    endpoint: Endpoint,
    default: str | None,
    because: str,
) -> StartModel:
    if not _is_address(endpoint.base_url):
        why = f"The base_url of {name} is {endpoint.base_url!r}, which is not an http address."
        return StartModel("wrong", why)
    model = wish.model or default
    sure = bool(wish.sure if wish.model else wish.context_window) and name not in wish.ask
    # OpenAI's list says nothing of windows.
    if model and (sure or (is_openai(endpoint.base_url) and look_up(model).known)):
        listed = None
    else:
        key = env.get(endpoint.api_key_env or "")
        listed = await server_models(
            endpoint.base_url, key, ASKED_SECONDS, endpoint.headers, wish.model
        )
        if wish.model and not wish.sure and listed.models and not listed.find(wish.model):
            return _missing_model(wish, endpoint, [model.name for model in listed.models])
    return _settle(wish, env, name, endpoint, default, because, listed)


def _missing_model(wish: WantedModel, endpoint: Endpoint, names: Sequence[str]) -> StartModel:
    assert wish.model is not None
    host = urlsplit(endpoint.base_url).netloc
    hint = _suggestion(wish, names)
    how = "" if wish.source == "name" else UNLISTED
    return StartModel("wrong", _sentence(f"{host} has no model {shown(wish.model)}{hint}"), how)


def _suggestion(wish: WantedModel, names: Sequence[str]) -> str:
    """The model that was meant, as `suggestion`; in `provider/model` the provider may be wrong."""
    asked = wish.model or ""
    head, slash, tail = asked.partition("/")
    provider = nearest(head, provider_names(wish)) if slash else None
    if provider and not nearest(asked, names):
        return f"; did you mean {provider}/{shown(tail)}?"
    return suggestion(asked, names)


def provider_names(wish: WantedModel) -> list[str]:
    """Every provider that can be named: configured, well known, local, embedded."""
    return [*wish.providers, *SERVICES, *(server.name for server in LOCAL_SERVERS), "embedded"]


def _sentence(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


def _settle(
    wish: WantedModel,
    env: Mapping[str, str],
    name: str,
    endpoint: Endpoint,
    default: str | None,
    because: str,
    listed: ServerModels | None,
) -> StartModel:
    """Model, window and sentence from all that is known by now."""
    models = listed.models if listed else ()
    model = wish.model or default or (models[0].name if models else "default")
    entry_listed = listed.find(model) if listed else None
    entry = look_up(model)
    source: WindowSource
    if wish.context_window:
        window, source = wish.context_window, "config"
    elif entry_listed and entry_listed.context_window:
        window, source = entry_listed.context_window, "server"
    else:
        window, source = entry.context_window, "table" if entry.known else "assumed"
    info = ModelInfo(
        name=model,
        provider=name,
        context_window=window,
        window_source=source,
        max_output=wish.max_output
        or (entry_listed and entry_listed.max_output)
        or entry.max_output,
        encoding=entry.encoding,
    )
    why = f"{model} at {urlsplit(endpoint.base_url).netloc}: {because}"
    if listed and listed.reason and not (wish.model and wish.context_window):
        why += f"; its list of models is not available ({listed.reason})"
    return StartModel(
        "endpoint",
        f"{why}.",
        model=info,
        endpoint=replace(endpoint, wire_api=_wire_api(endpoint)),
        api_key=env.get(endpoint.api_key_env or "") or None,
        limit_output=wish.max_output is not None,
        reported=entry_listed.context_window if entry_listed else None,
    )


async def _local(servers: Sequence[LocalServer]) -> list[tuple[LocalServer, ServerModels]]:
    """The servers that list models, in order of preference; all are asked at once."""
    listed = await asyncio.gather(*(_probe(server) for server in servers))
    return [pair for pair in zip(servers, listed, strict=True) if pair[1].models]


async def _probe(server: LocalServer) -> ServerModels:
    try:
        # A closed port says so at once, and spares the import of an HTTP client.
        async with asyncio.timeout(LOCAL_SECONDS):
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    except (OSError, TimeoutError):
        return ServerModels()
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return await server_models(server.base_url, None, LOCAL_SECONDS)


def _embedded(model: ModelInfo | None, wish: WantedModel, because: str) -> StartModel:
    if model is None:
        how = "Set a key such as OPENAI_API_KEY, start a local server, or: pinfold local setup."
        kind: Literal["none", "wrong"] = "wrong" if wish.provider == "embedded" else "none"
        return StartModel(kind, f"No model: the embedded one is not installed; {because}.", how)
    why = f"{model.name}, embedded: {because}."
    if (wanted := wish.context_window) and wanted > model.context_window:
        why += (
            f" Its server takes {model.context_window:,} tokens, so that is its window: "
            f"context_window asks for {wanted:,}."
        )
    elif wanted:
        model = structs.replace(model, context_window=wanted, window_source="config")
    return StartModel("embedded", why, model=model)


def _wire_api(endpoint: Endpoint) -> WireApi:
    return endpoint.wire_api or default_api(openai=is_openai(endpoint.base_url))


def _is_address(base_url: str) -> bool:
    try:
        parts = urlsplit(base_url)
        _ = parts.port  # raises where it is none
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)
