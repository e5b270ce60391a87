"""What models cost, and who says so."""

import pytest

from pinfold.host.prices import prices
from pinfold.rollout.values import Usage
from pinfold.settings import PriceSettings, Settings
from pinfold.tokens.catalog import checked
from pinfold.tokens.prices import Spend, price_of


@pytest.mark.parametrize("name", ["openai/gpt-6.2-sol", "gpt-6.2-sol"])
def test_the_user_s_own_price_goes_before_all_others(name: str) -> None:
    known = prices(Settings(prices={name: PriceSettings(input=7, output=8)}))
    price = price_of("openai", "gpt-6.2-sol", known)
    assert price is not None
    assert (price.input, price.source) == (7, "")


def test_a_price_of_the_catalog_has_its_date() -> None:
    price = price_of("openai", "gpt-6.2-sol", prices(Settings()))
    assert price is not None
    assert price.source == f"the catalog of {checked()}"
    assert price.cached is not None
    assert price.cached < price.input < price.output


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openrouter", "anthropic/claude-sonnet-5.5"),
        ("gemini", "gemini-3.8-flash"),
        ("xai", "grok-4.7"),
        ("groq", "openai/gpt-oss-120b"),
    ],
)
def test_other_prices_come_from_the_package_and_say_its_version(provider: str, model: str) -> None:
    price = price_of(provider, model, prices(Settings()))
    assert price is not None
    assert price.source.startswith("genai-prices 0.")
    assert 0 < price.input < price.output


@pytest.mark.parametrize(
    ("provider", "model"), [("ollama", "llama3"), ("127.0.0.1:80", "gpt-5"), ("openai", "mine")]
)
def test_a_server_of_one_s_own_has_no_price(provider: str, model: str) -> None:
    assert price_of(provider, model, prices(Settings())) is None


def test_what_was_spent_is_known_without_any_setting() -> None:
    spend = Spend()
    spend.add("openai", "gpt-6.2-sol", Usage(input=1_000_000, cached=500_000, output=100_000))
    assert spend.total(prices(Settings())) == pytest.approx(1.0 + 0.05 + 1.0)
