"""The cost of requests."""

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from pinfold.rollout.values import Usage

_MILLION = 1_000_000


class Price(Struct, frozen=True):
    """Of a model, in USD for a million tokens."""

    input: float
    output: float
    """Reasoning included."""
    cached: float | None = None
    """Of input that came from the provider's prompt cache; none where that costs the same."""
    cache_write: float | None = None
    """Of input that was put into it; none where that costs the same."""
    source: str = ""
    """Where it comes from, with a date or version; empty for the user's own."""


class PriceList(dict[str, Price]):
    """The user's own prices, and what providers publish for all other models."""

    def __init__(
        self, own: Mapping[str, Price], published: Callable[[str, str], Price | None]
    ) -> None:
        """`published` gives the price of a provider's model, where it is known."""
        super().__init__(own)
        self.published = published


def cost(usage: Usage, price: Price) -> float:
    """USD."""
    cached = price.input if price.cached is None else price.cached
    written = price.input if price.cache_write is None else price.cache_write
    fresh = usage.input - usage.cached - usage.written
    return (
        fresh * price.input
        + usage.cached * cached
        + usage.written * written
        + usage.output * price.output
    ) / _MILLION


def cold_cost(tokens: int, price: Price) -> float:
    """USD for so many tokens of input that no cache holds, and that go into one."""
    return cost(Usage(input=tokens, written=tokens), price)


def price_of(provider: str, model: str, prices: Mapping[str, Price]) -> Price | None:
    """`prices` go by `provider/model`, or by the model's name at any provider."""
    own = prices.get(f"{provider}/{model}") or prices.get(model)
    if own is None and isinstance(prices, PriceList):
        return prices.published(provider, model)
    return own


class Spend(Struct):
    """Tokens used so far, by model; plain data, for a cache."""

    models: dict[str, Usage] = field(default_factory=dict)
    """By `provider/model`."""

    def add(self, provider: str, model: str, usage: Usage) -> None:
        """Take a request's report, whatever the request was for."""
        name = f"{provider}/{model}"
        self.models[name] = self.models.get(name, Usage()) + usage

    def take(self, models: Mapping[str, Usage]) -> None:
        """Add the usage of an agent."""
        for name, usage in models.items():
            self.add(*name.partition("/")[::2], usage)

    def total(self, prices: Mapping[str, Price]) -> float | None:
        """USD so far; none where a model that was used has no price (see `price_of`)."""
        total = 0.0
        for name, usage in self.models.items():
            provider, _, model = name.partition("/")
            price = price_of(provider, model, prices)
            if price is None:
                return None
            total += cost(usage, price)
        return total
