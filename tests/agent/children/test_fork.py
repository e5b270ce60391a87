"""An agent that begins with a fork of its parent's window."""

import asyncio
from pathlib import Path

import pytest

from fakes.agents import Cast, task, troupe
from fakes.cacheable import common, sent
from fakes.provider import calls, says
from pinfold.ports.provider import ModelInfo, Request

LARGE = ModelInfo("scripted-1", "scripted", 200_000, "config")


def asked(provider: object, key: str) -> list[Request]:
    assert isinstance(provider, Cast)
    return provider.parts[key].requests


@pytest.mark.parametrize("agent", ["", "explore"])
async def test_it_sends_the_bytes_that_its_parent_sent(tmp_path: Path, agent: str) -> None:
    parts = {
        "go on": [
            calls(task("t", "more"), ("e", "edit_file", '{"path": "a", "old": "", "new": "x"}')),
            says("Done."),
        ]
    }
    forked = task("c1", "go on", fork_turns="all", agent=agent)
    script = [says("Noted. " * 400), calls(forked), says("ok")]
    on = await troupe(tmp_path, script, parts, model=LARGE)
    await on.session.send("the number is 42")
    await on.session.send("now ask an agent")
    before, own = on.provider.requests[1], asked(on.provider, "go on")[0]
    # Its prompt joins the user's last one in one message, whose end is all that differs.
    shared = sent(before).removesuffix('"}]')
    assert common(sent(own), shared) == len(shared)
    assert own.cache_key == before.cache_key
    # It is told of tools that it does not have.
    second = asked(on.provider, "go on")[1]
    (refused, edited) = [item.content for item in second.items if item.kind == "tool_result"][-2:]
    assert refused == "task is not available to you: continue without it."
    assert ("not available to you" in edited) == bool(agent)
    await on.session.close()


async def test_it_can_read_what_its_parents_agents_did(tmp_path: Path) -> None:
    parts = {
        "first": [calls(("l", "list_dir", "{}")), says("Seen.")],
        "second": [calls(("r", "recall", '{"id": "a1"}')), says("Read.")],
    }
    script = [
        calls(task("c1", "first")),
        calls(task("c2", "second", fork_turns="all")),
        says("ok"),
    ]
    on = await troupe(tmp_path, script, parts, model=LARGE)
    await on.session.send("go")
    (*_, result) = [i for i in asked(on.provider, "second")[1].items if i.kind == "tool_result"]
    assert "call of list_dir" in result.content
    first, second = (on.session.children.end(n) for n in (1, 2))
    assert first is not None
    assert second is not None
    assert sum(usage.output for usage in second.models.values()) == 40  # of its own requests alone
    await on.session.close()


async def test_what_works_beside_it_is_not_its_own(tmp_path: Path) -> None:
    gate = asyncio.Event()
    parts = {"linger": [[gate, *says("Late.")]], "look": [says("Seen.")]}
    script = [
        calls(task("c1", "linger", background=True)),
        calls(task("c2", "look", fork_turns="all")),
        says("ok"),
        says("ok"),
    ]
    on = await troupe(tmp_path, script, parts, model=LARGE)
    await on.session.send("go")
    (request,) = asked(on.provider, "look")
    told = [item.content for item in request.items if item.kind == "context"]
    assert any("it works on for the session that started you" in text for text in told)
    assert on.session.children.end(1) is None
    gate.set()
    await on.until(lambda: not on.session.children.running)
    end = on.session.children.end(1)
    assert end is not None
    assert end.state == "done"
    await on.session.close()
