"""On resume: what the next request costs where the provider's cache has forgotten the session."""

from dataclasses import replace
from pathlib import Path

import pytest

from fakes.agent import MODEL, Stage, stage
from fakes.provider import says
from pinfold.agent.options import Options
from pinfold.commands.context_text import facts
from pinfold.numbers import precise
from pinfold.tokens.prices import Price
from pinfold.wire.caching import kept_for, never_cached

OPTIONS = Options(prices={"scripted-1": Price(input=100.0, output=1.0, cache_write=125.0)})


async def left(root: Path, reply: str = "word " * 900) -> Stage:
    on = await stage(root, [says(reply) for _ in range(3)], options=OPTIONS)
    for prompt in ("a", "b", "c"):
        await on.say(prompt)
    await on.session.close()
    return on


async def again(root: Path, first: Stage, seconds: float, options: Options = OPTIONS) -> Stage:
    on = await first.again([says("on")], options=options)
    await on.clock.advance(seconds)
    return on


async def test_a_cold_cache_is_priced_with_and_without_a_compaction(tmp_path: Path) -> None:
    first = await left(tmp_path)
    on = await again(tmp_path, first, 3_600)
    used = on.session.reading().used
    count = len(on.events())
    after = await on.session.compaction.tokens_after()
    assert await on.session.cold() == (
        f"The prompt cache is cold: the next request will cost about {precise(used * 125 / 1e6)}; "
        f"compacted first (/compact), {precise(after * 125 / 1e6)}."
    )
    assert len(on.events()) == count, "looking costs nothing"
    await first.clock.advance(3_600)  # by which the journal is written
    await on.say("d")
    assert await on.session.cold() == ""


async def test_a_small_window_is_not_worth_compacting(tmp_path: Path) -> None:
    on = await again(tmp_path, await left(tmp_path, "yes"), 3_600)
    costs = on.session.reading().used * 125 / 1e6
    assert (await on.session.cold()).endswith(f" will cost about {precise(costs)}.")


@pytest.mark.parametrize(
    ("seconds", "options"), [(3_000, OPTIONS), (3_600, replace(OPTIONS, prices={}))]
)
async def test_a_warm_cache_and_an_unknown_price_say_nothing(
    tmp_path: Path, seconds: float, options: Options
) -> None:
    on = await again(tmp_path, await left(tmp_path), seconds, options)
    assert await on.session.cold() == ""


async def test_a_session_that_begins_has_nothing_to_lose(tmp_path: Path) -> None:
    on = await stage(tmp_path, [], options=OPTIONS)
    assert await on.session.cold() == ""


def test_what_caches_keep_and_where_there_is_none() -> None:
    assert kept_for("https://api.openai.com/v1", "gpt-5") == 86_400
    assert kept_for("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5") == 300
    assert kept_for("http://127.0.0.1:8080/v1", MODEL.name) == 3_600
    assert "no prompt cache" in never_cached("https://api.anthropic.com/v1")
    assert never_cached("https://anthropic.com.evil.example/v1") == ""


async def test_context_says_where_nothing_is_cached(tmp_path: Path) -> None:
    on = await stage(tmp_path, [])
    on.session._parts.choice.connection = replace(
        on.session._parts.choice.connection, base_url="https://api.anthropic.com/v1"
    )
    assert "no prompt cache here" in facts(on.session.window.overview())
