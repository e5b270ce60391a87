"""What `send` gives to whoever awaits it."""

import asyncio
import json
from pathlib import Path

import pytest

from fakes.agent import stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.agent.turn.ending import UNSENT, Ending
from pinfold.agent.updates import PromptReturned
from pinfold.ports.approver import Decision
from pinfold.ports.errors import RateLimited, RequestRejected
from pinfold.ports.provider import ResponseDone
from pinfold.rollout.journal import Journal, JournalError
from pinfold.rollout.values import Usage

ECHO = "shell", json.dumps({"command": "echo hi"})


def used(tokens: int) -> Usage:
    return Usage(input=tokens, output=1)


async def test_a_turn_ends_with_its_answer_and_what_its_requests_used(tmp_path: Path) -> None:
    called = [*calls(("c1", *ECHO), text="Looking.")[:-1], ResponseDone(used(100), "tool_calls")]
    script = [called, says("All done.", usage=used(150))]
    on = await stage(tmp_path, script, options=Options(approvals="full"))
    ending = await on.session.send("go")
    assert ending == Ending("done", usage=Usage(input=250, output=2), answer="All done.")
    assert not on.session.busy
    on.provider.script.append(says("Again.", usage=used(160)))
    assert (await on.session.send("again")).usage == used(160)


async def test_a_failure_tells_why_and_a_wait_that_it_can_go_on(tmp_path: Path) -> None:
    script = [[RequestRejected("No such field.")], [RateLimited("Too many.", retry_after=9_999)]]
    on = await stage(tmp_path, script)
    assert await on.session.send("one") == Ending("failed", "No such field.")
    ending = await on.session.send("two")
    assert (ending.state, ending.reason, ending.sent) == ("waiting", "Too many.", True)


async def test_limits_are_named(tmp_path: Path) -> None:
    cut = [*says("Half a")[:-1], ResponseDone(used(10), "length")]
    script = [cut, calls(("c1", *ECHO)), says("never asked for")]
    on = await stage(
        tmp_path, script, Decision("no"), options=Options(approvals="full", max_steps=1)
    )
    ending = await on.session.send("one")
    assert (ending.state, ending.limit, ending.answer) == ("done", "output", "Half a")
    ending = await on.session.send("two")
    assert (ending.state, ending.limit, ending.answer) == ("waiting", "steps", "")


async def test_an_interruption_ends_the_turn_and_what_waits_behind_it(tmp_path: Path) -> None:
    on = await stage(tmp_path, [[*says("Hel")[:1], asyncio.Event()]])
    first = on.session.send("first")
    queued = on.session.send("second")
    taken = on.session.send("third")
    on.session.unqueue(2)
    assert await taken == UNSENT
    await on.until(lambda: on.session.phase == "streaming")
    on.session.interrupt()
    assert ((await first).state, await queued) == ("interrupted", UNSENT)


async def test_whoever_stops_waiting_does_not_stop_the_turn(tmp_path: Path) -> None:
    gate = asyncio.Event()
    on = await stage(tmp_path, [[gate, *says("Still here.")]])
    on.session.send("hi").cancel()
    gate.set()
    await on.session.idle()
    assert on.session.items[-1].content == "Still here."


async def test_a_prompt_that_is_not_taken_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = await stage(tmp_path, [])

    def full(self: Journal, *_: object) -> None:
        raise JournalError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", full)
        assert await on.session.send("hi") == Ending("failed", "The disk is full.", sent=False)
    assert PromptReturned("hi") in on.heard
    await on.session.close()
    with Journal.open(on.session.folder, on.clock.now, read_only=True) as journal:
        reader = await stage(tmp_path, [], journal=lambda: journal)
        ending = await reader.session.send("hi")
        assert (ending.state, ending.sent, "read-only" in ending.reason) == ("failed", False, True)
