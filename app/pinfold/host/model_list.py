"""The models to choose from: those that the provider lists, and those of other providers."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pinfold.agent.requests.connection import Connection
from pinfold.host.app_context import AppContext
from pinfold.host.models import wish_of
from pinfold.providers.choose import ASKED_SECONDS, provider_names
from pinfold.providers.http_provider import HttpProvider
from pinfold.providers.metadata import ServerModel
from pinfold.providers.presets import SERVICES
from pinfold.tokens.catalog import efforts, look_up
from pinfold.tokens.prices import Price, price_of


@dataclass(frozen=True, slots=True)
class ModelLine:
    """A model as a list shows it."""

    asked_as: str
    """What `/model` takes."""
    name: str
    """Its name, with the provider if that is another one."""
    window: int | None
    """None if unknown."""
    price: Price | None
    efforts: tuple[str, ...]
    recent: bool = False


def model_lines(
    ctx: AppContext, connection: Connection, prices: Mapping[str, Price]
) -> Iterator[ModelLine]:
    """All models. Asks the provider, so not on the event loop."""
    own = connection.model.provider
    nameable = provider_names(wish_of(ctx.loaded))
    used = [summary.model for summary in ctx.store.list()]
    recent = list(dict.fromkeys(name for name in used if name))
    found = {model.name: model.context_window for model in _listed(connection)}
    found.setdefault(connection.model.name, connection.model.context_window)
    names = sorted(found, key=lambda name: (_rank(recent, name), name))
    for name in names:
        asked_as = f"{own}/{name}" if own in nameable else name
        yield _line(asked_as, name, own, name, prices, found[name], recent=name in recent)
    for service, preset in SERVICES.items():
        key = preset.endpoint.api_key_env
        if service != own and key and os.environ.get(key):
            named = f"{service}/{preset.model}"
            yield _line(named, named, service, preset.model, prices)
    for provider in ctx.settings.providers:
        if provider != own:
            yield ModelLine(provider, f"{provider}/…", None, None, ())


def _rank(recent: list[str], name: str) -> int:
    return recent.index(name) if name in recent else len(recent)


def _listed(connection: Connection) -> Iterator[ServerModel]:
    if isinstance(connection.provider, HttpProvider):
        yield from asyncio.run(connection.provider.models(ASKED_SECONDS)).models


def _line(
    asked_as: str,
    shown: str,
    provider: str,
    model: str,
    prices: Mapping[str, Price],
    window: int | None = None,
    *,
    recent: bool = False,
) -> ModelLine:
    entry = look_up(model)
    return ModelLine(
        asked_as,
        shown,
        window or (entry.context_window if entry.known else None),
        price_of(provider, model, prices),
        efforts(provider, model),
        recent,
    )
