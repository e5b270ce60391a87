"""From settings to a model that answers."""

import os
from collections.abc import Mapping
from dataclasses import replace

from pinfold.agent.request import Connection
from pinfold.ports import ProviderError
from pinfold.providers.choose import Choice, Wish, choose
from pinfold.providers.choose import connect as connect_endpoint
from pinfold.providers.embedded import Embedded, available
from pinfold.providers.openai_compatible import Timeouts
from pinfold.providers.presets import LOCAL_SERVERS, SERVICES, Endpoint
from pinfold.settings import Loaded, ProviderSettings, Settings


def wish_of(loaded: Loaded) -> Wish:
    """What the settings say of the model."""
    settings = loaded.settings
    source = loaded.origins.get("model.name") or loaded.origins.get("model.provider", "")
    return Wish(
        provider=settings.model.provider,
        model=settings.model.name,
        context_window=settings.model.context_window,
        max_output=settings.model.max_output,
        providers={name: _endpoint(each) for name, each in settings.providers.items()},
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


def key_variables(settings: Settings, env: Mapping[str, str] = os.environ) -> frozenset[str]:
    """The variables that may hold a provider's key, but for those that commands may see."""
    names = {each.endpoint.api_key_env for each in SERVICES.values()}
    names |= {each.api_key_env for each in settings.providers.values()}
    names |= {name for name in env if name.startswith("PINFOLD_PROVIDERS__")}
    return frozenset(name for name in names if name) - set(settings.tools.env_keep)


def asked_for(wish: Wish, name: str) -> Wish:
    """`wish` changed to what the user typed: `MODEL`, `PROVIDER/MODEL` or `PROVIDER`."""
    known = {*wish.providers, *SERVICES, *(server.name for server in LOCAL_SERVERS), "embedded"}
    head, _, tail = name.partition("/")
    provider: str | None = wish.provider
    model: str | None = name
    if head in known:
        provider, model = head, tail or None
    if provider == "embedded" and model:
        provider = None  # the embedded one serves no other model
    kept = wish.context_window if model == wish.model else None
    return replace(wish, provider=provider, model=model, context_window=kept)


async def choice_of(loaded: Loaded, env: Mapping[str, str] = os.environ) -> Choice:
    """The model to begin with, and why."""
    return await choose(wish_of(loaded), env, embedded=available)


async def connect(loaded: Loaded, name: str | None = None) -> Connection:
    """The model that the settings ask for, or the one that the user named by hand.

    Raises `ProviderError` where there is none.
    """
    if name is None:
        choice = await choice_of(loaded)
    else:
        choice = await choose(asked_for(wish_of(loaded), name), os.environ, embedded=available)
    note = f"{choice.why} {choice.how_to_change}"
    if choice.kind == "none" or choice.model is None:
        raise ProviderError(note)
    if choice.kind == "embedded":
        return Connection(Embedded(), choice.model, "chat", note)
    assert choice.endpoint is not None
    provider = connect_endpoint(choice)
    return Connection(provider, choice.model, provider.wire_api, note)


async def connect_summarizer(loaded: Loaded) -> Connection:
    """The model that `[compact]` asks for, within the window that it names.

    Raises `ProviderError` where there is none.
    """
    wanted = loaded.settings.compact
    return (await connect(loaded, wanted.model)).within(wanted.context_window)
