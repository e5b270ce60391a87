"""What models cost: by the settings, else by what providers publish."""

from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from pinfold.settings import Settings
from pinfold.tokens.catalog import look_up
from pinfold.tokens.prices import Price, PriceList

if TYPE_CHECKING:
    from decimal import Decimal

    from genai_prices.types import TieredPrices

_PROVIDERS = {
    **{name: name for name in ("openai", "openrouter", "mistral", "deepseek", "groq", "anthropic")},
    "gemini": "google",
    "xai": "x-ai",
}
"""Services with published prices, and their names in the package that lists them."""


def prices(settings: Settings) -> PriceList:
    """What models cost; `[prices]` comes first."""
    own = {
        name: Price(price.input, price.output, price.cached, price.cache_write)
        for name, price in settings.prices.items()
    }
    return PriceList(own, published)


@cache
def published(provider: str, model: str) -> Price | None:
    """Today's price of requests of usual length; some providers charge more for long ones."""
    listed = _PROVIDERS.get(provider)
    if listed is None:
        return None
    # The package is slow to load, so only for a model that is asked about.
    return look_up(model).price or _from_package(listed, model)


def _from_package(provider: str, model: str) -> Price | None:
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, found = get_snapshot().find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    price = found.get_prices(datetime.now(UTC))
    if price.input_mtok is None or price.output_mtok is None:
        return None
    return Price(
        _dollars(price.input_mtok),
        _dollars(price.output_mtok),
        None if price.cache_read_mtok is None else _dollars(price.cache_read_mtok),
        None if price.cache_write_mtok is None else _dollars(price.cache_write_mtok),
        source=f"genai-prices {version('genai-prices')}",
    )


def _dollars(price: "Decimal | TieredPrices") -> float:
    from decimal import Decimal

    return float(price if isinstance(price, Decimal) else price.base)
