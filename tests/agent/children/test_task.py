"""Agents: each a session of its own, of which its parent's window holds one result."""

import asyncio
import shutil
from pathlib import Path

import pytest

from fakes.agents import Cast, task, troupe
from fakes.provider import calls, says
from pinfold.commands.context_text import words
from pinfold.numbers import tokens
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import ChildFinished, ChildStarted, SessionStarted
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.tokens.items import count_item
from pinfold.window.refused import Refused

LARGE = ModelInfo("scripted-1", "scripted", 200_000, "config")


def results(items: "list[Item]") -> list[Item]:
    return [item for item in items if item.kind == "tool_result"]


async def test_an_agent_is_a_session_and_costs_one_result(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("seven\n")
    parts = {"count": [calls(("r", "read_file", '{"path": "a.txt"}')), says("It says seven.")]}
    on = await troupe(
        tmp_path, [calls(task("c1", "count", agent="explore")), says("Seven.")], parts
    )
    ending = await on.session.send("go")
    assert ending.answer == "Seven."
    (result,) = on.items("tool_result")
    assert result.content.startswith("[agent a1 explore · done · ")
    assert result.content.endswith("]\nIt says seven.")
    started, over = (on.events_of(kind)[0] for kind in (ChildStarted, ChildFinished))
    assert isinstance(started, ChildStarted)
    assert isinstance(over, ChildFinished)
    assert over.state == "done"
    first = (await on.session.children.events(started))[0].data
    assert isinstance(first, SessionStarted)
    assert (first.parent, first.source) == (on.session.id, "agent")
    items = await on.session.children.items(1)
    assert [item.kind for item in items if item.kind != "context"] == [
        "user", "tool_call", "tool_result", "assistant",
    ]  # fmt: skip
    assert not on.provider.closed
    await on.session.close()
    assert on.provider.closed


async def test_what_a_result_costs_is_said_beside_the_agents_own_size(tmp_path: Path) -> None:
    script = [calls(task("c1", "count", agent="explore")), says("ok")]
    on = await troupe(tmp_path, script, {"count": [says("Seven. " * 50)]})
    await on.session.send("go")
    (row,) = (row for row in on.session.window.overview().rows if row.agent)
    own = on.session.children.status(1)
    assert own is not None
    assert words(row) == f"a1 explore · {tokens(own.tokens)} used · count"
    effect = await on.session.window.act("fold", on.session.window.numbers(str(row.n)))
    assert effect.freed > 50
    for name in ("a1#3", "a1#3..7"):
        with pytest.raises(
            Refused, match=f"{name} is an item of agent a1, which has its own window"
        ):
            on.session.window.select(name)
    await on.session.close()


async def test_an_agent_starts_none_and_has_the_tools_of_its_kind(tmp_path: Path) -> None:
    parts = {"look": [says("Seen.")]}
    on = await troupe(tmp_path, [calls(task("c1", "look", agent="explore")), says("ok")], parts)
    await on.session.send("go")
    asked = on.provider.parts["look"].requests[0]  # type: ignore[attr-defined]
    names = {tool.name for tool in asked.context.tools}
    assert "task" not in names
    assert "edit_file" not in names
    assert {"read_file", "recall"} <= names
    await on.session.close()


async def test_a_long_reply_is_cut_and_kept(tmp_path: Path) -> None:
    parts = {"tell": [says("\n".join(f"line {n}" for n in range(4_000)))]}
    script = [calls(task("c1", "tell")), says("ok")]
    on = await troupe(tmp_path, script, parts, model=LARGE)
    await on.session.send("go")
    (result,) = on.items("tool_result")
    assert on.session.counter.count(result.content) < 1_700
    assert "line 3999" in Path(result.detail["spill"]).read_text()
    await on.session.close()


@pytest.mark.slow
async def test_an_agent_that_reads_much_costs_its_parent_under_a_hundredth(
    tmp_path: Path,
) -> None:
    """With a reply as long as may be: 1,561 tokens for 259,650, 0.6%."""
    (tmp_path / "work").mkdir()
    for n in range(14):
        (tmp_path / "work" / f"{n}.txt").write_text("seven words stand on each line here\n" * 1_700)
    reads = [calls((f"r{n}", "read_file", f'{{"path": "{n}.txt"}}')) for n in range(14)]
    parts = {"read it all": [*reads, says("word " * 4_000)]}
    script = [calls(task("c1", "read it all", agent="explore")), says("ok")]
    model = ModelInfo("scripted-1", "scripted", 1_000_000, "config")
    on = await troupe(tmp_path, script, parts, model=model)
    await on.session.send("go")
    read = sum(on.session.counter.count(i.content) for i in await on.session.children.items(1))
    own = [item for item in on.session.items if item.call_id == "c1"]
    assert len(own) == 2
    took = sum(count_item(on.session.counter, item, "chat") for item in own)
    assert read > 200_000
    assert took < read / 100
    await on.session.close()


async def test_an_unknown_agent_is_named(tmp_path: Path) -> None:
    on = await troupe(tmp_path, [calls(task("c1", "x", agent="wizard")), says("ok")], {})
    await on.session.send("go")
    (result,) = on.items("tool_result")
    assert result.content == "There is no agent named 'wizard'. There are: explore, review."
    await on.session.close()


async def test_at_most_four_work_at_once(tmp_path: Path) -> None:
    gate = asyncio.Event()
    names = [f"job {n}" for n in range(1, 6)]
    parts = {name: [[gate, *says(f"{name} is done")]] for name in names}
    made = calls(*(task(f"c{n}", name) for n, name in enumerate(names)))
    on = await troupe(tmp_path, [made, says("ok")], parts)
    sent = on.session.send("go")
    assert isinstance(on.provider, Cast)
    await on.provider.asked(*names, least=4)
    assert len(on.session.children.running) == 5
    gate.set()
    await sent
    said = [item.content.partition("]\n")[2] for item in on.items("tool_result")]
    assert said == [f"{name} is done" for name in names]
    await on.session.close()


async def test_agents_end_with_the_turn_that_waits_for_them(tmp_path: Path) -> None:
    parts = {"linger": [[asyncio.Event()]]}
    on = await troupe(tmp_path, [calls(task("c1", "linger"))], parts)
    sent = on.session.send("go")
    assert isinstance(on.provider, Cast)
    await on.provider.asked("linger")
    on.session.interrupt()
    assert (await sent).state == "interrupted"
    (result,) = on.items("tool_result")
    assert result.content.startswith("[agent a1 · interrupted: the turn that waited for it")
    assert not on.session.children.running
    await on.session.close()


async def test_one_in_the_background_is_told_of_when_it_has_ended(tmp_path: Path) -> None:
    gate = asyncio.Event()
    parts = {"dig": [[gate, *says("Found it.")]]}
    script = [calls(task("c1", "dig", background=True)), says("Started."), says("Good.")]
    on = await troupe(tmp_path, script, parts)
    await on.session.send("go")
    await on.session.compact("checkpoint")
    gate.set()
    await on.until(lambda: not on.session.children.running)
    await on.session.send("and?")
    told = on.texts("context")
    assert any(text.endswith("]\nFound it.") for text in told)
    await on.session.close()


async def test_a_compacted_fork_begins_with_the_parents_window(tmp_path: Path) -> None:
    parts = {"go on": [says("Forty-two.")]}
    script = [
        says("Noted. " * 4_000),
        calls(task("c1", "go on", fork_turns="compacted")),
        says("ok"),
    ]
    on = await troupe(tmp_path, script, parts, model=LARGE)
    await on.session.send("the number is 42\n" + "Mind the gap, whatever it says. " * 200)
    await on.session.send("now ask an agent")
    (request,) = on.provider.parts["go on"].requests  # type: ignore[attr-defined]
    texts = [item.content for item in request.items]
    assert any("the number is 42" in text for text in texts)
    assert "go on" in texts[-1]
    over = on.events_of(ChildFinished)[0]
    (used,) = over.models.values()
    assert used.output == 20  # of its own request alone
    await on.session.close()


async def test_recall_reaches_into_an_agents_work(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("a rare zebra\n")
    parts = {"count": [calls(("r", "read_file", '{"path": "a.txt"}')), says("Done.")]}
    script = [
        calls(task("c1", "count")),
        calls(("c2", "recall", '{"id": "a1"}')),
        calls(("c3", "recall", '{"query": "zebra"}')),
        calls(("c4", "recall", '{"id": "a1#3"}'), ("c5", "recall", '{"id": "a2#3"}')),
        says("ok"),
    ]
    on = await troupe(tmp_path, script, parts, model=LARGE)
    await on.session.send("go")
    _, listed, found, item, missing = (one.content for one in on.items("tool_result"))
    assert "a1#" in listed
    assert "call of read_file" in listed
    assert "In the work of agent a1, as a1#n:" in found
    assert "zebra" in found
    assert item.startswith("[Agent a1.]")
    assert missing == "There is no agent a2. There are: a1."
    await on.session.close()


async def test_after_a_crash_a_waiting_parent_is_told(tmp_path: Path) -> None:
    parts = {"linger": [[asyncio.Event()]]}
    on = await troupe(tmp_path, [calls(task("c1", "linger"))], parts)
    on.session.send("go")
    assert isinstance(on.provider, Cast)
    await on.provider.asked("linger")
    # What a killed process leaves behind.
    copy = tmp_path / "copy" / on.session.folder.name
    shutil.copytree(on.session.folder, copy, ignore=shutil.ignore_patterns("*lock*", "*.tmp"))
    again = await troupe(tmp_path, [], {}, journal=Journal.open(copy, on.clock.now))
    (result,) = again.items("tool_result")
    assert result.content.startswith("Agent a1 was interrupted: pinfold stopped.")
    end = again.session.children.end(1)
    assert end is not None
    assert (end.state, end.reason) == ("interrupted", "pinfold stopped")
    assert await again.session.children.items(1)
    await again.session.close()
    await on.session.close()


async def test_one_that_was_done_when_pinfold_stopped_is_told_as_done(tmp_path: Path) -> None:
    on = await troupe(tmp_path, [calls(task("c1", "look")), says("ok")], {"look": [says("Seen.")]})
    await on.session.send("go")
    copy = tmp_path / "copy" / on.session.folder.name
    shutil.copytree(on.session.folder, copy, ignore=shutil.ignore_patterns("*lock*", "*.tmp"))
    rollout = copy / "rollout.jsonl"
    lines = rollout.read_bytes().splitlines(keepends=True)
    end = next(n for n, line in enumerate(lines) if b'"child_finished"' in line)
    rollout.write_bytes(b"".join(lines[:end]))
    again = await troupe(tmp_path, [], {}, journal=Journal.open(copy, on.clock.now))
    (result,) = again.items("tool_result")
    assert result.content.startswith("[agent a1 · done · ")
    assert result.content.endswith("]\nSeen.")
    assert again.session.children.end(1) == on.session.children.end(1)
    await again.session.close()
    await on.session.close()
