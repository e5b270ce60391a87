"""Asks a server for its models. For the first screen: quick, and never an error."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

if TYPE_CHECKING:
    import httpx2

WINDOW_KEYS = (
    "loaded_context_length",  # LM Studio, /api/v0
    "n_ctx",  # llama.cpp, as started
    "max_model_len",  # vLLM
    "context_length",  # OpenRouter, Together, Ollama's /api/ps
    "context_window",  # Groq
    "max_context_window",
    "max_context_length",  # Mistral; LM Studio for a model that is not loaded
    "max_input_tokens",  # Anthropic, LiteLLM
    "n_ctx_train",  # llama.cpp, the model's own
)
OUTPUT_KEYS = ("max_completion_tokens", "max_output_tokens")
_INNER = ("top_provider", "meta", "default_generation_settings")
"""Objects within a model's entry in which some servers put these keys."""


@dataclass(frozen=True, slots=True)
class ServerModel:
    name: str
    context_window: int | None = None
    max_output: int | None = None


@dataclass(frozen=True, slots=True)
class ServerModels:
    """The models that a server lists, best first; or why there are none."""

    models: tuple[ServerModel, ...] = ()
    reason: str = ""
    any_name: bool = False
    """Whether the server has one model and serves it under any name."""

    def find(self, name: str) -> ServerModel | None:
        """The entry of that name or of one that means the same model."""
        exact = [model for model in self.models if model.name == name]
        found = exact or [model for model in self.models if _stands_for(name, model.name)]
        if not found and self.any_name:
            return self.models[0]
        return found[0] if found else None


def _stands_for(asked: str, listed: str) -> bool:
    asked, listed = asked.lower(), listed.lower()
    return (
        listed in (asked, f"{asked}:latest")  # Ollama
        or listed.rpartition("/")[2] == asked  # Gemini
        or listed.startswith(f"{asked.removesuffix('-latest')}-")  # Anthropic, xAI: with a date
        or listed == asked.partition(":")[0]  # OpenRouter: a variant, as in `:free`
    )


async def server_models(
    base_url: str,
    api_key: str | None,
    timeout: float,  # noqa: ASYNC109 - one limit for all requests together
    headers: Mapping[str, str] | None = None,
    named: str | None = None,
) -> ServerModels:
    """Ask the server at `base_url`, for at most `timeout` seconds. Never raises.

    Where the model that was `named` is not in its list, it is asked for that one, too.
    """
    try:
        httpx2 = await asyncio.to_thread(import_module, "httpx2")
        sent = {**({"authorization": f"Bearer {api_key}"} if api_key else {}), **(headers or {})}
        async with (
            asyncio.timeout(timeout),
            httpx2.AsyncClient(headers=sent, timeout=None) as client,
        ):
            return await _ask(client, base_url.rstrip("/"), named)
    except TimeoutError:
        return ServerModels(reason=f"no answer within {timeout:g} s")
    except Exception as exc:
        # Whatever is wrong with it, the first request will say so properly.
        return ServerModels(reason=str(exc) or type(exc).__name__)


async def _ask(client: "httpx2.AsyncClient", base_url: str, named: str | None) -> ServerModels:
    response = await client.get(f"{base_url}/models")
    if response.status_code != 200:
        return ServerModels(reason=f"status {response.status_code}")
    entries = _entries(msgspec.json.decode(response.content))
    models = [model for entry in entries if (model := _model(entry))]
    if not models:
        return ServerModels(reason="it lists no models")
    owner = str(entries[0].get("owned_by"))
    if all(model.context_window is None for model in models):
        models = await _with_windows(client, base_url.removesuffix("/v1"), owner, models)
    any_name = owner == "llamacpp" and len(models) == 1
    found = ServerModels(tuple(models), any_name=any_name)
    if named and found.find(named) is None:
        page = await _page(client, f"{base_url}/models/{quote(named, safe='/:')}")
        if isinstance(page, dict) and (model := _model(page)):
            return replace(found, models=(*models, replace(model, name=named)))
    return found


async def _with_windows(
    client: "httpx2.AsyncClient", root: str, owner: str, models: list[ServerModel]
) -> list[ServerModel]:
    """Local servers report the window on other pages."""
    match owner:
        case "llamacpp":
            page = await _page(client, f"{root}/props")
            window = _number(page, WINDOW_KEYS)
            return [replace(model, context_window=window) for model in models]
        case "organization_owner":  # LM Studio
            found = [
                (entry.get("state") != "loaded", model)
                for entry in _entries(await _page(client, f"{root}/api/v0/models"))
                if (model := _model(entry)) and entry.get("type") != "embeddings"
            ]
            return [model for _, model in sorted(found, key=lambda pair: pair[0])] or models
        case "library":  # Ollama: what is loaded has a window, and stands first
            page = await _page(client, f"{root}/api/ps")
            loaded = [model for entry in _entries(page) if (model := _model(entry))]
            names = {model.name for model in loaded}
            return loaded + [model for model in models if model.name not in names]
        case _:
            return models


async def _page(client: "httpx2.AsyncClient", url: str) -> Any:
    response = await client.get(url)
    return msgspec.json.decode(response.content) if response.status_code == 200 else {}


def _entries(page: Any) -> list[dict[str, Any]]:
    if isinstance(page, dict):
        page = page.get("data") or page.get("models")
    found: Iterable[Any] = page if isinstance(page, list) else ()
    return [entry for entry in found if isinstance(entry, dict)]


def _model(entry: dict[str, Any]) -> ServerModel | None:
    name = entry.get("id") or entry.get("name")
    if not isinstance(name, str) or "embed" in name.lower():
        return None
    return ServerModel(name, _number(entry, WINDOW_KEYS), _number(entry, OUTPUT_KEYS))


def _number(entry: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    """The first of the keys with a number; inner objects go first."""
    inner = [entry[name] for name in _INNER if isinstance(entry.get(name), dict)]
    for place in (*inner, entry):
        for key in keys:
            value = place.get(key)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
    return None
