"""Prompts that are sent while a turn runs."""

import asyncio
import json
from pathlib import Path

from fakes.agent import Stage, stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.agent.updates import PromptReturned
from pinfold.checkpoint.view import view_v1
from pinfold.rollout import provenance
from pinfold.rollout.events import PromptUnqueued

FULL = Options(approvals="full")
LIST = ("list_dir", "{}")


async def typed_in_mid_turn(root: Path, *said: str, steers: bool = True) -> Stage:
    """A turn whose first call is answered after the user has said more."""
    gate = asyncio.Event()
    script = [[gate, *calls(("c1", *LIST))], says("first"), says("second"), says("third")]
    on = await stage(root, script, options=FULL)
    on.session.send("begin")
    await on.until(lambda: bool(on.provider.requests))
    for text in said:
        on.session.send(text, [(0, 5)], steers=steers)
    gate.set()
    await on.session.idle()
    return on


async def test_a_prompt_joins_the_turn_after_the_next_results(tmp_path: Path) -> None:
    on = await typed_in_mid_turn(tmp_path, "PASTE use tabs", "PASTE then fix src/cart.py too")
    assert on.kinds() == ["user", "tool_call", "tool_result", "user", "user", "assistant"]
    first, second, _ = on.items("user")
    assert (second.content, second.turn) == ("PASTE use tabs", first.turn)
    assert provenance.typed(second) == ["use tabs"]
    sent = [item.content for item in on.provider.requests[1].items]
    assert sent[-2:] == ["PASTE use tabs", "PASTE then fix src/cart.py too"]
    assert [event.reason for event in on.events() if isinstance(event, PromptUnqueued)] == [
        "sent",
        "sent",
    ]
    known = await on.session._record.known()
    lines = [line.text for line in known.record.lines() if line.kind == "user"]
    assert lines == ["begin", "use tabs", "then fix src/cart.py too"]
    assert "then fix src/cart.py too" in view_v1(known.checkpoint)


async def test_what_does_not_steer_waits_for_the_end(tmp_path: Path) -> None:
    on = await typed_in_mid_turn(tmp_path, "PASTE later", steers=False)
    assert [(item.content, item.turn) for item in on.items("user")] == [
        ("begin", 1),
        ("PASTE later", 2),
    ]


async def test_without_another_result_it_starts_the_next_turn(tmp_path: Path) -> None:
    gate = asyncio.Event()
    on = await stage(tmp_path, [[gate, *says("done")], says("more")])
    first = on.session.send("begin")
    await on.until(lambda: bool(on.provider.requests))
    second = on.session.send("go on")
    gate.set()
    assert [(await first).answer, (await second).answer] == ["done", "more"]
    assert [item.turn for item in on.items("user")] == [1, 2]


async def test_who_sent_it_hears_how_the_turn_ended(tmp_path: Path) -> None:
    gate = asyncio.Event()
    on = await stage(tmp_path, [[gate, *calls(("c1", *LIST))], says("both")], options=FULL)
    first = on.session.send("begin")
    await on.until(lambda: bool(on.provider.requests))
    second = on.session.send("and this")
    gate.set()
    assert (await first).answer == (await second).answer == "both"


async def test_an_interruption_gives_back_what_waits_and_keeps_what_joined(tmp_path: Path) -> None:
    gate = asyncio.Event()
    shell = ("shell", json.dumps({"command": "sleep 600"}))
    script = [[gate, *calls(("c1", *LIST))], calls(("c2", *shell))]
    on = await stage(tmp_path, script, options=FULL)
    on.session.send("begin")
    await on.until(lambda: bool(on.provider.requests))
    on.session.send("joined")
    gate.set()
    await on.until(lambda: on.kinds()[-1] == "tool_call" and len(on.provider.requests) == 2)
    on.session.send("waits")
    on.session.interrupt()
    await on.session.idle()
    assert [item.content for item in on.items("user")] == ["begin", "joined"]
    assert PromptReturned("waits") in on.heard


async def test_a_prompt_that_is_being_added_when_the_turn_is_interrupted_is_there_once(
    tmp_path: Path,
) -> None:
    gate = asyncio.Event()
    on = await stage(tmp_path, [[gate, *calls(("c1", *LIST))]], options=FULL)
    on.session.send("begin")
    await on.until(lambda: bool(on.provider.requests))
    on.session.send("once")
    # It leaves the queue as it is about to be written.
    on.session.subscribe(
        lambda update: (
            on.session.interrupt()
            if type(update).__name__ == "QueueChanged" and not on.session.queue
            else None
        )
    )
    gate.set()
    await on.session.idle()
    returned = [update.text for update in on.heard if isinstance(update, PromptReturned)]
    assert returned + [item.content for item in on.items("user")][1:] == ["once"]
