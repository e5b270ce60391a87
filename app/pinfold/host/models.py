"""Connects to the model of the settings."""

import asyncio
import os
from dataclasses import replace

from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows, narrowed, place_of
from pinfold.host.app_context import AppContext
from pinfold.ports.errors import NoSuchModel, ProviderError
from pinfold.providers.choose import StartModel, WantedModel, choose, provider_names
from pinfold.providers.choose import connect as connect_endpoint
from pinfold.providers.embedded import Embedded, available
from pinfold.providers.http_provider import Timeouts
from pinfold.providers.presets import SERVICES, Endpoint
from pinfold.settings import ProviderSettings, Settings
from pinfold.settings_load import Loaded


def wish_of(loaded: Loaded) -> WantedModel:
    """The model of the settings."""
    settings, origins = loaded.settings, loaded.origins
    source = origins.get("model.name") or origins.get("model.provider", "")
    window_by = origins.get("model.context_window")
    return WantedModel(
        provider=settings.model.provider,
        model=settings.model.name,
        context_window=settings.model.context_window,
        max_output=settings.model.max_output,
        providers={name: _endpoint(provider) for name, provider in settings.providers.items()},
        sure=window_by is not None and window_by == origins.get("model.name"),
        source={"a flag": "flag", "the environment": "environment"}.get(source, "config"),  # type: ignore[arg-type]
    )


def _endpoint(given: ProviderSettings) -> Endpoint:
    return Endpoint(
        base_url=given.base_url,
        api_key_env=given.api_key_env,
        wire_api=given.wire_api,
        headers=given.headers,
        timeouts=Timeouts(given.connect_timeout, given.first_byte_timeout, given.idle_timeout),
    )


def key_variables(settings: Settings) -> frozenset[str]:
    """Variables that may hold a provider's key."""
    names = {service.endpoint.api_key_env for service in SERVICES.values()}
    names |= {provider.api_key_env for provider in settings.providers.values()}
    names |= {name for name in os.environ if name.startswith("PINFOLD_PROVIDERS__")}
    return frozenset(name for name in names if name)


def asked_for(wish: WantedModel, name: str) -> WantedModel:
    """`wish` changed to what the user typed: `MODEL`, `PROVIDER/MODEL` or `PROVIDER`."""
    head, _, tail = name.partition("/")
    provider: str | None = wish.provider
    model: str | None = name
    if head in provider_names(wish):
        provider, model = head, tail or None
    if provider == "embedded" and model:
        provider = None  # the embedded one serves no other model
    same = model == wish.model
    return replace(
        wish,
        provider=provider,
        model=model,
        context_window=wish.context_window if same else None,
        source="name",
        sure=wish.sure and same,
    )


async def choice_of(ctx: AppContext, name: str | None = None) -> StartModel:
    """The model to begin with, or the one that the user named, and why. Its window is at most the
    one learned from refused requests."""
    windows = LearnedWindows(ctx.home)
    wish = wish_of(ctx.loaded)
    if name is not None:
        wish = asked_for(wish, name)
    places = await asyncio.to_thread(windows.places)
    wish = replace(wish, ask=frozenset(place.provider for place in places))
    choice = await choose(wish, os.environ, embedded=available)
    return await asyncio.to_thread(_as_learned, choice, windows)


def _as_learned(choice: StartModel, windows: LearnedWindows) -> StartModel:
    model, endpoint = choice.model, choice.endpoint
    if model is None or endpoint is None:
        return choice
    place = place_of(model.provider, endpoint.base_url, model.name)
    try:
        learned = windows.check(place, choice.reported)
    except OSError:  # the file can't be written, and says the same the next time
        learned = None
    if learned is None or learned.context_window >= model.context_window:
        return choice
    window = learned.context_window
    why = f"{choice.why} Its window is {window:,} tokens, learned from a request that was refused"
    if model.window_source == "config":
        why += f", and not the {model.context_window:,} that context_window asks for"
    why += "; /context can forget that."
    return replace(choice, why=why, model=narrowed(model, window), unlearned=model)


async def connect(ctx: AppContext, name: str | None = None) -> Connection:
    """The model of the settings, or the one that the user named. Raises `ProviderError`."""
    choice = await choice_of(ctx, name)
    note = f"{choice.why} {choice.how_to_change}".rstrip()
    if choice.kind == "wrong":
        raise NoSuchModel(note)
    if choice.kind == "none" or choice.model is None:
        raise ProviderError(note)
    if choice.kind == "embedded":
        return Connection(Embedded(), choice.model, "chat", note)
    assert choice.endpoint is not None
    provider = connect_endpoint(choice)
    return Connection(
        provider,
        choice.model,
        provider.wire_api,
        note,
        base_url=choice.endpoint.base_url,
        reported=choice.reported,
        unlearned=choice.unlearned,
    )


async def connect_summarizer(ctx: AppContext) -> Connection:
    """The model of `[compact]`, with its `context_window`. Raises `ProviderError`."""
    wanted = ctx.settings.compact
    return (await connect(ctx, wanted.model)).within(wanted.context_window)
