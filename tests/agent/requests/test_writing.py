"""Requests beside the turns: asked again where that helps, counted, journalled if wanted."""

import asyncio
import json

import pytest

from fakes.provider import FakeClock, ScriptedProvider, Step, says
from pinfold.agent.requests.metadata import HEADER, detached
from pinfold.agent.requests.writing import LEAST_ANSWER, RETRIES, Attempt, Writer, Written
from pinfold.ports.errors import ContextOverflow, MalformedStream, Overloaded, RequestRejected
from pinfold.ports.provider import ModelInfo, TextDelta
from pinfold.rollout.context import Context
from pinfold.rollout.items import Item
from pinfold.rollout.values import Usage
from pinfold.tokens.counter import Counter
from pinfold.tokens.prices import Price

MODEL = ModelInfo("m", "p", 8_000, "config", max_output=500)


def writer(*script: list[Step]) -> tuple[Writer, ScriptedProvider, FakeClock]:
    provider, clock = ScriptedProvider(script), FakeClock()
    return Writer(provider, MODEL, Counter("none"), clock), provider, clock


async def test_an_instruction_stands_behind_the_window() -> None:
    used = Usage(input=90, output=3)
    asked, provider, _ = writer(says("Yes.", usage=used))
    window = (Item(n=1, kind="user", content="Hello"),)
    written = await asked.write(Context(instructions="Be brief."), window, "Well?", 900)
    assert written == Written("Yes.", used, "stop")
    (request,) = provider.requests
    assert request.context.instructions == "Be brief."
    assert [item.content for item in request.items] == ["Hello", "Well?"]
    assert request.max_output == 500
    assert asked.spent == used


async def test_it_asks_again_where_that_can_help() -> None:
    asked, provider, clock = writer([Overloaded("busy")], says("Yes."))
    answer = asyncio.create_task(asked("", "Well?", 100))
    await clock.advance(await clock.sleeping())
    assert await answer == "Yes."
    assert len(provider.requests) == 2


async def test_it_does_not_insist_for_ever() -> None:
    asked, provider, clock = writer(*[[Overloaded("busy")]] * (RETRIES + 1))
    answer = asyncio.create_task(asked("", "Well?", 100))
    for _ in range(RETRIES):
        await clock.advance(await clock.sleeping())
    with pytest.raises(Overloaded):
        await answer
    assert len(provider.requests) == RETRIES + 1


async def test_a_refusal_is_final() -> None:
    asked, provider, _ = writer([RequestRejected("no")])
    with pytest.raises(RequestRejected):
        await asked("", "Well?", 100)
    assert len(provider.requests) == 1


async def test_a_long_wait_is_not_waited_for() -> None:
    asked, _, _ = writer([Overloaded("busy", retry_after=3_600)])
    with pytest.raises(Overloaded):
        await asked("", "Well?", 100)


async def test_a_stream_without_an_end_is_no_answer() -> None:
    asked, _, clock = writer(*[[TextDelta("Ye")]] * (RETRIES + 1))
    answer = asyncio.create_task(asked("", "Well?", 100))
    for _ in range(RETRIES):
        await clock.advance(await clock.sleeping())
    with pytest.raises(MalformedStream):
        await answer


async def test_one_that_is_down_is_not_waited_for_at_every_question() -> None:
    asked, provider, clock = writer(
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
    asked, provider, _ = writer(says("Yes."))
    await asked("", "word " * 7_900, 500)
    assert provider.requests[0].max_output == LEAST_ANSWER


async def test_what_is_larger_than_the_window_is_not_sent() -> None:
    asked, provider, _ = writer()
    with pytest.raises(ContextOverflow, match="The request has 8,917 tokens"):
        await asked("", "word " * 9_000, 500)
    assert asked.count("word " * 9_000) > MODEL.context_window
    assert provider.requests == []


async def test_a_request_without_a_session_says_only_what_it_is_for() -> None:
    provider = ScriptedProvider([says("{}")])
    headers = detached("memory", wanted=True)
    asked = Writer(provider, MODEL, Counter("none"), FakeClock(), headers=headers)
    schema = {"type": "object"}
    await asked.write(Context(instructions="Extract."), (), "#1 user: Hello", 300, schema=schema)
    (request,) = provider.requests
    assert json.loads(request.headers[HEADER]) == {"request_kind": "memory"}
    assert (request.schema, request.max_output) == (schema, 300)
    assert detached("memory", wanted=False) == {}


async def test_a_journal_hears_how_each_request_ended() -> None:
    kept: list[Attempt] = []

    async def journal(attempt: Attempt) -> None:
        kept.append(attempt)

    clock = FakeClock()
    provider = ScriptedProvider([[Overloaded("busy")], [TextDelta("Ye"), asyncio.Event()]])
    asked = Writer(provider, MODEL, Counter("none"), clock, journal=journal)
    answer = asyncio.create_task(asked("", "Well?", 100))
    await clock.advance(await clock.sleeping())
    while len(provider.requests) < 2:
        await asyncio.sleep(0)
    answer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answer
    told = [(attempt.number, attempt.status, attempt.error) for attempt in kept]
    assert told == [(1, "Overloaded", "busy"), (2, "interrupted", "")]
    assert provider.cut_off == 1
    assert not asked.is_busy


def test_what_it_costs_is_known_where_its_price_is() -> None:
    usage = Usage(input=1_000_000, output=500_000)
    price = Price(2.0, 8.0)
    priced = Writer(ScriptedProvider([]), MODEL, Counter("none"), FakeClock(), price=price)
    assert priced.cost(usage) == 6.0
    assert writer()[0].cost(usage) is None
    assert priced.name == "p/m"
