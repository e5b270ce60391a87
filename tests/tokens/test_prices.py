"""What requests cost."""

import pytest

from pinfold.rollout.values import Usage
from pinfold.tokens.prices import Price, Spend, cost

USAGE = Usage(input=1_000_000, cached=400_000, output=100_000, reasoning=50_000)


def test_cached_input_has_its_own_price_where_there_is_one() -> None:
    assert cost(USAGE, Price(2, 10)) == pytest.approx(2 + 1)
    assert cost(USAGE, Price(2, 10, cached=0.5)) == pytest.approx(1.2 + 0.2 + 1)


def test_all_requests_of_all_models_add_up() -> None:
    spend = Spend()
    assert spend.total({}) == 0
    for _ in range(2):
        spend.add("openai", "gpt-5", USAGE)
    spend.add("router", "openai/gpt-5-mini", Usage(input=1_000_000))
    prices = {"gpt-5": Price(2, 10), "router/openai/gpt-5-mini": Price(0.25, 2)}
    assert spend.total(prices) == pytest.approx(2 * 3 + 0.25)


def test_a_price_at_one_provider_goes_before_that_of_the_model() -> None:
    spend = Spend()
    spend.add("azure", "gpt-5", USAGE)
    assert spend.total({"gpt-5": Price(2, 10), "azure/gpt-5": Price(4, 20)}) == pytest.approx(6)


def test_the_total_is_unknown_while_one_model_has_no_price() -> None:
    spend = Spend()
    spend.add("openai", "gpt-5", USAGE)
    spend.add("embedded", "SmolLM2", Usage(input=5))
    assert spend.total({"gpt-5": Price(2, 10)}) is None
