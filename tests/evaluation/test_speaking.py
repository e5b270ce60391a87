"""Models of an evaluation: they are asked again where that helps, and what they use is counted."""

import asyncio

import pytest

from fakes.provider import FakeClock, ScriptedProvider, Step, says
from pinfold.evaluation.speaking import LEAST_ANSWER, RETRIES, Speaker
from pinfold.ports import MalformedStream, ModelInfo, Overloaded, RequestRejected, TextDelta
from pinfold.rollout.events import Usage
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter
from pinfold.tokens.prices import Price

MODEL = ModelInfo("m", "p", 8_000, "config", max_output=500)


def speaker(*script: list[Step]) -> tuple[Speaker, ScriptedProvider, FakeClock]:
    provider, clock = ScriptedProvider(script), FakeClock()
    return Speaker(provider, MODEL, Counter("none"), clock), provider, clock


async def test_a_question_stands_behind_the_window() -> None:
    asked, provider, _ = speaker(says("Yes.", usage=Usage(input=90, output=3)))
    window = (Item(n=1, kind="user", content="Hello"),)
    assert await asked.answer("", window, "Well?", 900) == "Yes."
    (request,) = provider.requests
    assert [item.content for item in request.items] == ["Hello", "Well?"]
    assert request.max_output == 500
    assert asked.spent == Usage(input=90, output=3)


async def test_it_asks_again_where_that_can_help() -> None:
    asked, provider, clock = speaker([Overloaded("busy")], says("Yes."))
    answer = asyncio.create_task(asked("", "Well?", 100))
    await clock.advance(await clock.sleeping())
    assert await answer == "Yes."
    assert len(provider.requests) == 2


async def test_it_does_not_insist_for_ever() -> None:
    asked, provider, clock = speaker(*[[Overloaded("busy")]] * (RETRIES + 1))
    answer = asyncio.create_task(asked("", "Well?", 100))
    for _ in range(RETRIES):
        await clock.advance(await clock.sleeping())
    with pytest.raises(Overloaded):
        await answer
    assert len(provider.requests) == RETRIES + 1


async def test_a_refusal_is_final() -> None:
    asked, provider, _ = speaker([RequestRejected("no")])
    with pytest.raises(RequestRejected):
        await asked("", "Well?", 100)
    assert len(provider.requests) == 1


async def test_a_long_wait_is_not_waited_for() -> None:
    asked, _, _ = speaker([Overloaded("busy", retry_after=3_600)])
    with pytest.raises(Overloaded):
        await asked("", "Well?", 100)


async def test_a_stream_without_an_end_is_no_answer() -> None:
    asked, _, clock = speaker(*[[TextDelta("Ye")]] * (RETRIES + 1))
    answer = asyncio.create_task(asked("", "Well?", 100))
    for _ in range(RETRIES):
        await clock.advance(await clock.sleeping())
    with pytest.raises(MalformedStream):
        await answer


async def test_one_that_is_down_is_not_waited_for_at_every_question() -> None:
    asked, provider, clock = speaker(
        *[[Overloaded("busy")]] * (RETRIES + 2), says("Yes."), [Overloaded("busy")], says("Again.")
    )
    first = asyncio.create_task(asked("", "Well?", 100))
    for _ in range(RETRIES):
        await clock.advance(await clock.sleeping())
    with pytest.raises(Overloaded):
        await first
    with pytest.raises(Overloaded):
        await asked("", "Well?", 100)
    assert len(provider.requests) == RETRIES + 2
    assert await asked("", "Well?", 100) == "Yes."
    again = asyncio.create_task(asked("", "Well?", 100))
    await clock.advance(await clock.sleeping())
    assert await again == "Again."


async def test_an_answer_is_given_no_more_room_than_the_window_has() -> None:
    asked, provider, _ = speaker(says("Yes."))
    window = (Item(n=1, kind="user", content="word " * 9_000),)
    await asked.answer("", window, "Well?", 500)
    assert provider.requests[0].max_output == LEAST_ANSWER


def test_what_it_costs_is_known_where_its_price_is() -> None:
    usage = Usage(input=1_000_000, output=500_000)
    priced = Speaker(ScriptedProvider([]), MODEL, Counter("none"), FakeClock(), Price(2.0, 8.0))
    assert priced.cost(usage) == 6.0
    assert speaker()[0].cost(usage) is None
    assert priced.name == "p/m"
