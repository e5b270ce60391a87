"""What stands before the window stays as it is; what changes in it is appended."""

import json
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from fakes.agent import MODEL, stage
from fakes.cacheable import cacheable, sent
from fakes.provider import Step, calls, says
from pinfold.agent.options import Options
from pinfold.ports.provider import Request
from pinfold.rollout.events import ContextSet, WindowReplaced
from pinfold.tokens.prices import Price
from pinfold.tools import registry

WIDE = replace(MODEL, context_window=200_000)


def context_items(request: Request) -> list[str]:
    return [item.content for item in request.items if item.kind == "context"]


async def test_an_edited_agents_file_is_appended_once(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says(str(n)) for n in range(6)])
    rules = tmp_path / "work" / "AGENTS.md"
    rules.write_text("Use tabs.")
    await on.say("a")
    rules.write_text("Use spaces.")
    requests = await on.say("b", "c")
    assert len(on.events_of(ContextSet)) == 1
    assert [request.context for request in requests] == [requests[0].context] * 3
    (said,) = context_items(requests[2])
    assert said.startswith(f"{rules} has changed. The text below replaces all earlier text")
    assert said.endswith("Use spaces.")
    rules.write_text("Use tabs.")  # as the front has it: the item before would go first
    assert context_items((await on.say("d"))[-1])[-1].endswith("\n\nUse tabs.")
    rules.unlink()
    assert f"{rules} is gone" in context_items((await on.say("e"))[-1])[-1]
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "AGENTS.md").write_text("Be brief.")
    *_, last = context_items((await on.say("f"))[-1])
    assert "from " in last
    assert last.endswith("Be brief.")
    assert len(context_items(on.provider.requests[-1])) == 4


async def test_an_empty_session_counts_what_its_first_request_will_carry(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("1")], model=WIDE)
    (tmp_path / "work" / "AGENTS.md").write_text("Use tabs.")
    assert not dict(on.session.reading().segments).get("tools")
    await on.session.count_front()
    foreseen = dict(on.session.reading().segments)
    assert {"instructions", "AGENTS.md", "tools"} <= foreseen.keys()
    assert on.session.window.context.agents[0].text == "Use tabs."
    await on.say("a")
    known = dict(on.session.reading().segments)
    assert {name: known[name] for name in foreseen} == foreseen
    await on.session.count_front()
    assert len(on.events_of(ContextSet)) == 1


async def test_it_moves_to_the_front_at_a_compaction(tmp_path: Path) -> None:
    on = await stage(tmp_path, [*(says("word " * 400) for _ in range(4)), says("on"), says("on")])
    rules = tmp_path / "work" / "AGENTS.md"
    rules.write_text("Use tabs.")
    await on.say("a", "b")
    rules.write_text("Use spaces.")
    await on.say("c", "d")
    await on.session.compact("checkpoint")
    requests = await on.say("e")
    assert requests[-1].context.agents[0].text == "Use spaces."
    assert context_items(requests[-1]) == []
    rules.write_text("Use both.")
    assert "replaces all earlier text" in context_items((await on.say("f"))[-1])[0]


async def test_a_compaction_inside_a_turn_renews_the_front_too(tmp_path: Path) -> None:
    rules = tmp_path / "work" / "AGENTS.md"
    rules.parent.mkdir()
    rules.write_text("Use tabs.")
    write = ("c1", "write_file", json.dumps({"path": "AGENTS.md", "content": "Use spaces."}))
    script = [*(says("word " * 900) for _ in range(2)), calls(write, text="long " * 2_000)]
    on = await stage(tmp_path, [*script, says("on")], options=Options(approvals="full"))
    requests = await on.say("a", "b", "c")
    kinds = [type(event) for event in on.events()]
    assert kinds[kinds.index(WindowReplaced) :].count(ContextSet) == 1
    assert requests[-1].context.agents[0].text == "Use spaces."


async def test_an_old_state_that_an_undo_brings_back_is_corrected(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("word " * 400) for _ in range(6)], model=WIDE)
    rules = tmp_path / "work" / "AGENTS.md"
    rules.write_text("one")
    await on.say("a")
    rules.write_text("two")
    await on.say("b", "c")
    rules.write_text("three")
    await on.session.compact("checkpoint")
    await on.session.window.undo()
    said = context_items((await on.say("d"))[-1])
    assert [text.rpartition("\n")[2] for text in said] == ["two", "three"]


async def test_the_date_and_the_branch_are_appended(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("one"), says("two"), says("three")])
    git = tmp_path / "work" / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    await on.say("a")
    assert "Branch: main\n" in on.provider.requests[0].context.environment
    (git / "HEAD").write_text("ref: refs/heads/feature\n")
    await on.clock.advance(timedelta(days=1).total_seconds())
    requests = await on.say("b", "c")
    assert requests[2].context == requests[0].context
    (said,) = context_items(requests[2])
    assert "Branch: feature\n" in said
    assert "Date: 2026-01-03" in said


async def test_rules_of_a_folder_come_once_a_file_of_it_is_read(tmp_path: Path) -> None:
    inner = tmp_path / "work" / "lib" / "deep"
    inner.mkdir(parents=True)
    (inner / "a.py").write_text("x = 1\n")
    (inner.parent / "AGENTS.md").write_text("No prints in lib.")
    (inner / "AGENTS.md").symlink_to("/etc/passwd")
    read = ("c1", "read_file", json.dumps({"path": "lib/deep/a.py"}))
    script = [calls(read), calls(read), says("ok"), says("ok")]
    on = await stage(tmp_path, script, model=WIDE)
    requests = await on.say("look")
    assert [len(context_items(request)) for request in requests] == [0, 1, 1]
    assert context_items(requests[1])[0].endswith("No prints in lib.")
    (inner.parent / "AGENTS.md").write_text("Prints are fine.")
    said = context_items((await on.say("again"))[-1])
    assert "replaces all earlier text" in said[1]
    assert said[1].endswith("Prints are fine.")


async def test_another_set_of_tools_rewrites_the_front_and_says_the_price(tmp_path: Path) -> None:
    first = await stage(tmp_path, [says("one")], model=WIDE)
    await first.say("a")
    prices = {"scripted-1": Price(input=1000.0, output=1.0)}
    kept = [tool for tool in registry.tools() if tool.schema.name != "grep"]
    script = [says("two"), says("three")]
    on = await first.again(script, model=WIDE, options=Options(prices=prices), with_tools=kept)
    requests = await on.say("b", "c")
    assert "grep" not in {tool.name for tool in requests[0].context.tools}
    (told,) = [text for text in on.told() if "set of tools" in text]
    assert "changed (-grep): the prompt cache is lost" in told
    assert "about $" in told
    assert len(on.events_of(ContextSet)) == 2


async def test_a_session_that_goes_on_later_sends_what_it_sent(tmp_path: Path) -> None:
    rules = tmp_path / "work" / "AGENTS.md"
    rules.parent.mkdir()
    rules.write_text("Use tabs.")
    first = await stage(tmp_path, [says("one"), says("two")])
    await first.say("a")
    await first.session.close()
    rules.write_text("Use spaces.")
    on = await first.again([says("three")])
    requests = [*first.provider.requests, *await on.say("b")]
    begin = sent(requests[0]).removesuffix('"}]')
    assert sent(requests[1]).startswith(begin)


async def test_nine_tenths_of_a_sessions_characters_are_cacheable(tmp_path: Path) -> None:
    """Files, modes, goal, date and rules change in it; nothing is compacted."""
    rules = tmp_path / "work" / "AGENTS.md"
    rules.parent.mkdir()
    rules.write_text("Use tabs.\n" * 50)
    (rules.parent / "a.py").write_text("x = 1\n" * 60)
    look = ("c1", "read_file", json.dumps({"path": "a.py"}))
    script: list[list[Step]] = []
    for n in range(8):
        script += [calls(look), calls(look), says(f"Turn {n} is done. " * 5)]
    on = await stage(tmp_path, script, model=WIDE)
    for n in range(8):
        match n:
            case 2:
                rules.write_text("Use spaces.\n" * 50)
            case 3:
                await on.clock.advance(86_400)
            case 4:
                await on.session.window.set_goal("Make it faster.")
            case 5:
                on.session.set_approvals("read-only")
            case 6:
                (rules.parent / "a.py").write_text("x = 2\n" * 60)
        await on.say(f"go on {n}")
    assert cacheable(on.provider.requests) >= 0.9
