"""The user steers the window; what is done is journalled, survives, and can be undone."""

from pathlib import Path

import pytest

from fakes.agent import stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.rollout.events import GoalSet, ItemsMarked, PinsChanged, Usage, WindowCounted
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore
from pinfold.window.refused import Refused

LONG = ("shell", '{"command": "seq 400"}')


async def test_a_masked_result_leaves_the_next_request_and_comes_back_with_undo(
    tmp_path: Path,
) -> None:
    script = [calls(("c1", *LONG)), says("Counted."), says("Masked now."), says("Back again.")]
    at = await stage(tmp_path, script, options=_full())
    at.session.send("count")
    await at.session.idle()
    before = at.session.reading().used
    effect = await at.session.window.act("mask", at.session.window.numbers("3"))
    assert at.session.reading().used == before - effect.freed < before
    at.session.send("and now?")
    await at.session.idle()
    sent = {item.n: item.content for item in at.provider.requests[-1].items}
    assert sent[3].startswith("[#3 masked: 4")
    assert await at.session.window.undo() == "the mask of #3"
    at.session.send("once more")
    await at.session.idle()
    sent = {item.n: item.content for item in at.provider.requests[-1].items}
    assert "\n399\n" in sent[3]
    assert [type(each) for each in at.events()].count(ItemsMarked) == 2
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
        at.session.send(prompt)
        await at.session.idle()
    await at.session.window.act("fold", [1, 2])
    at.session.send("what was the port?")
    await at.session.idle()
    asked = at.provider.requests[2].items
    assert asked[0].content == (
        '[#1..2 folded: user message, reply. recall("1..2") brings it back.]'
    )
    result = next(i for i in at.provider.requests[3].items if i.kind == "tool_result")
    assert "8443" in result.content
    assert "#2" in result.content


async def test_pins_and_goal_survive_resume_and_fork(tmp_path: Path) -> None:
    at = await stage(tmp_path, [says("Yes.")])
    at.session.send("keep the API stable")
    await at.session.idle()
    assert at.session.window.goal == "keep the API stable"
    await at.session.window.act("pin", at.session.window.select("2, src/**"))
    await at.session.window.set_goal("ship 2.0")
    folder = at.session.folder
    await at.session.close()

    again = await stage(tmp_path, [], journal=lambda: Journal.open(folder, at.clock.now))
    assert [pin for pin, _ in again.session.window.pins] == [2, "src/**"]
    assert again.session.window.goal == "ship 2.0"
    await again.session.close()
    fork, _ = SessionStore(tmp_path / "home").fork(folder, None, at.clock.now)
    copy = await stage(tmp_path, [], journal=lambda: fork)
    assert [pin for pin, _ in copy.session.window.pins] == [2, "src/**"]
    assert copy.session.window.goal == "ship 2.0"


async def test_a_read_only_session_refuses_and_writes_nothing(tmp_path: Path) -> None:
    at = await stage(tmp_path, [says("Yes.")])
    at.session.send("hello")
    await at.session.idle()
    folder, count = at.session.folder, len(at.events())
    await at.session.close()
    look = await stage(
        tmp_path, [], journal=lambda: Journal.open(folder, at.clock.now, read_only=True)
    )
    for doing in (look.session.window.act("pin", [1]), look.session.window.set_goal("x")):
        with pytest.raises(Refused, match="read only"):
            await doing
    assert len(look.events()) == count


async def test_undo_waits_for_the_turns_end(tmp_path: Path) -> None:
    at = await stage(tmp_path, [says("Yes.")])
    at.session.send("hello")
    with pytest.raises(Refused, match="A turn is running"):
        await at.session.window.undo()
    await at.session.idle()


async def test_the_servers_count_is_asked_for_after_a_mask_and_is_measured(tmp_path: Path) -> None:
    script = [calls(("c1", *LONG)), says("Counted.", usage=Usage(input=2_000, output=9))]
    at = await stage(tmp_path, script, options=_full())
    at.provider.counts = [777]
    at.session.send("count")
    await at.session.idle()
    await at.session.window.act("mask", [3])
    assert at.session.reading().source in ("calibrated", "estimated")
    await at.until(lambda: at.session.reading().source == "measured")
    assert at.session.reading().used == 777
    assert any(isinstance(each, WindowCounted) for each in at.events())


async def test_pins_cost_what_they_hold_in_the_window_now(tmp_path: Path) -> None:
    script = [calls(("c1", *LONG)), says("Counted.")]
    at = await stage(tmp_path, script, options=_full())
    at.session.send("count")
    await at.session.idle()
    await at.session.window.act("mask", [3])
    window = at.session.window
    effect = await window.act("pin", [2])
    assert effect.back == (3,)
    [(_, cost)] = window.pins
    assert cost == effect.pinned > 500
    assert cost < at.session.reading().used
    await window.undo()
    assert (window.form(3), list(window.pins)) == ("masked", [])


async def test_every_steer_is_an_event(tmp_path: Path) -> None:
    at = await stage(tmp_path, [says("Yes.")])
    at.session.send("hello")
    await at.session.idle()
    await at.session.window.act("pin", [2])
    await at.session.window.act("unpin", [2])
    await at.session.window.set_goal("ship")
    kinds = [type(each) for each in at.events()]
    assert (kinds.count(PinsChanged), kinds.count(GoalSet)) == (2, 1)


def _full() -> Options:
    return Options(approvals="full")
