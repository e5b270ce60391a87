"""The user steers the window; what is done is journalled, survives, and can be undone."""

import asyncio
from pathlib import Path

import pytest

from fakes.agent import stage
from fakes.provider import calls, says, thinks
from pinfold.agent.options import Options
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import ItemsMarked, WindowCounted
from pinfold.rollout.store import SessionStore
from pinfold.rollout.values import CoreStatement, Usage
from pinfold.window.refused import Refused

LONG = ("shell", '{"command": "seq 400"}')


async def test_a_masked_result_leaves_the_next_request_and_comes_back_with_undo(
    tmp_path: Path,
) -> None:
    script = [calls(("c1", *LONG)), says("Counted."), says("Masked now."), says("Back again.")]
    at = await stage(tmp_path, script, options=_full())
    await at.say("count")
    before = at.session.reading().used
    effect = await at.session.window.act("mask", at.session.window.numbers("3"))
    assert at.session.reading().used == before - effect.freed < before
    await at.say("and now?")
    sent = {item.n: item.content for item in at.provider.requests[-1].items}
    assert sent[3].startswith("[#3 $ seq 400: exit 0, 400; ")
    assert await at.session.window.undo() == "the mask of #3"
    await at.say("once more")
    sent = {item.n: item.content for item in at.provider.requests[-1].items}
    assert "\n399\n" in sent[3]
    assert len(at.events_of(ItemsMarked)) == 2
    with pytest.raises(Refused, match="nothing to undo"):
        await at.session.window.undo()


async def test_the_model_recalls_what_was_folded(tmp_path: Path) -> None:
    script = [
        says("The port is 8443."),
        says("Noted."),
        calls(("c1", "recall", '{"query": "port"}')),
        says("8443, as I said."),
    ]
    at = await stage(tmp_path, script)
    for prompt in ("which port?", "thanks"):
        await at.say(prompt)
    await at.session.window.act("fold", [1, 2])
    await at.say("what was the port?")
    asked = at.provider.requests[2].items
    assert asked[0].content == (
        '[#1..2 folded: user message, reply. recall("1..2") brings it back.]'
    )
    result = next(i for i in at.provider.requests[3].items if i.kind == "tool_result")
    assert "8443" in result.content
    assert "#2" in result.content


async def test_pins_and_goal_survive_resume_and_fork(tmp_path: Path) -> None:
    at = await stage(tmp_path, [says("Yes.")])
    await at.say("keep the API stable")
    assert at.session.window.goal == "keep the API stable"
    await at.session.window.act("pin", at.session.window.select("1, 2, src/**"))
    await at.session.window.act("unpin", [1])
    await at.session.window.set_goal("ship 2.0")
    folder = at.session.folder
    again = await at.again()
    assert [pin for pin, _ in again.session.window.pins] == [2, "src/**"]
    assert again.session.window.goal == "ship 2.0"
    await again.session.close()
    fork, _ = SessionStore(tmp_path / "home").fork(folder, None, at.clock.now)
    copy = await stage(tmp_path, [], journal=lambda: fork)
    assert [pin for pin, _ in copy.session.window.pins] == [2, "src/**"]
    assert copy.session.window.goal == "ship 2.0"


async def test_a_goal_reaches_the_model_at_once(tmp_path: Path) -> None:
    at = await stage(tmp_path, [says("Yes."), says("On it.")])
    await at.say("keep the API stable")
    for goal in ("ship 2.0", "ship 2.0"):
        await at.session.window.set_goal(goal)
    told = at.session.items[-1]
    assert (told.n, told.kind) == (3, "context")
    assert at.session.window.form(3) == "full"
    await at.say("go on")
    sent = at.provider.requests[-1].items
    assert sent[2].content == "The user has set the goal of this session: ship 2.0"
    assert sent[3].content == "go on"
    await at.session.window.set_goal("")
    assert at.session.items[-1].content == (
        "The user has cleared the goal of this session: their first request is the goal again."
    )


async def test_a_goal_that_is_set_during_a_turn_comes_before_the_next_request(
    tmp_path: Path,
) -> None:
    gate = asyncio.Event()
    first = [*thinks("Hm."), gate, *calls(("c1", "shell", '{"command": "true"}'), text="Look.")]
    at = await stage(tmp_path, [first, says("Done.")], options=_full())
    at.session.send("hello")
    await at.until(lambda: at.kinds() == ["user", "reasoning"])
    await at.session.window.set_goal("ship 2.0")
    gate.set()
    await at.session.idle()
    assert at.kinds() == [
        *("user", "reasoning", "assistant", "tool_call", "tool_result", "context", "assistant")
    ]
    assert at.provider.requests[-1].items[-1].content.endswith("ship 2.0")


async def test_a_goal_that_was_not_told_is_told_when_the_session_goes_on(tmp_path: Path) -> None:
    gate = asyncio.Event()
    at = await stage(tmp_path, [[gate, *says("Yes.")], says("On it.")])
    at.session.send("hello")
    await at.until(lambda: bool(at.provider.requests))
    await at.session.window.set_goal("ship 2.0")
    gate.set()
    await at.session.idle()
    again = await at.again([says("On it.")])
    await again.say("go on")
    assert [item.content for item in again.provider.requests[-1].items][-2:] == [
        "The user has set the goal of this session: ship 2.0",
        "go on",
    ]


async def test_a_compacted_window_tells_the_goal_once(tmp_path: Path) -> None:
    script = [step for turn in range(4) for step in (calls((f"c{turn}", *LONG)), says("Counted."))]
    options = Options(approvals="full", auto="off", compact=PlanOptions(min_headroom_tokens=500))
    at = await stage(tmp_path, script, options=options)
    await at.session.window.set_goal("ship 2.0")
    await at.say(*(f"count {turn}" for turn in range(4)))
    await at.session.compact("checkpoint")
    items = at.session.window.items
    assert [item.kind for item in items if "ship 2.0" in item.content] == ["checkpoint"]


async def test_the_core_takes_no_more_than_its_share_of_the_window(tmp_path: Path) -> None:
    at = await stage(tmp_path, [])
    large = "word " * at.session.reading().usable
    with pytest.raises(Refused, match="The protected core would take"):
        await at.session.window.change_core([CoreStatement(large)])
    with pytest.raises(Refused, match="The protected core would take"):
        await at.session.window.set_goal(large)
    await at.session.window.change_core([CoreStatement("Be brief.")])
    assert [
        statement.text for statement in (await at.session.compaction.known()).core.stated()
    ] == ["Be brief."]


async def test_a_read_only_session_refuses_and_writes_nothing(tmp_path: Path) -> None:
    at = await stage(tmp_path, [says("Yes.")])
    await at.say("hello")
    count = len(at.events())
    look = await at.again(read_only=True)
    for doing in (look.session.window.act("pin", [1]), look.session.window.set_goal("x")):
        with pytest.raises(Refused, match="read-only"):
            await doing
    assert len(look.events()) == count


async def test_undo_waits_for_the_turns_end(tmp_path: Path) -> None:
    at = await stage(tmp_path, [says("Yes.")])
    at.session.send("hello")
    with pytest.raises(Refused, match="A turn is running"):
        await at.session.window.undo()
    await at.session.idle()


async def test_the_servers_count_is_asked_for_after_a_mask_and_is_measured(tmp_path: Path) -> None:
    script = [calls(("c1", *LONG)), says("Counted.", usage=Usage(input=4_000, output=9))]
    at = await stage(tmp_path, script, options=_full())
    at.provider.counts = [2_000]
    await at.say("count")
    await at.session.window.act("mask", [3])
    assert at.session.reading().source in ("calibrated", "estimated")
    await at.until(lambda: at.session.reading().source == "measured")
    assert at.session.reading().used == 2_000
    assert at.events_of(WindowCounted)


async def test_pins_cost_what_they_hold_in_the_window_now(tmp_path: Path) -> None:
    script = [calls(("c1", *LONG)), says("Counted.")]
    at = await stage(tmp_path, script, options=_full())
    await at.say("count")
    await at.session.window.act("mask", [3])
    window = at.session.window
    effect = await window.act("pin", [2])
    assert effect.back == (3,)
    [(_, cost)] = window.pins
    assert cost == effect.pinned > 500
    assert cost < at.session.reading().used
    await window.undo()
    assert (window.form(3), list(window.pins)) == ("masked", [])


def _full() -> Options:
    return Options(approvals="full")
