"""The user's own commands: told at their moment, they can stop what comes, or add to it."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.provider import calls, says
from pinfold.agent.hooks import Stopped
from pinfold.agent.options import Options
from pinfold.agent.updates import PromptReturned
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import ArtifactObserved, CompactionFinished, WindowReplaced

COMPACT = PlanOptions(max_tail_messages=4, min_headroom_tokens=500)


def options(timeout: float = 30, **hooks: str) -> Options:
    commands = {moment: (command,) for moment, command in hooks.items()}
    return Options(
        approvals="full", auto="off", compact=COMPACT, hooks=commands, hook_timeout=timeout
    )


async def worked(root: Path, given: Options, turns: int = 4) -> Stage:
    script = []
    for turn in range(turns):
        script.append(calls((f"c{turn}", "shell", f'{{"command": "seq {turn} 300"}}')))
        script.append(says(f"Part {turn} is read."))
    at = await stage(root, script, options=given)
    await at.say(*(f"read part {turn}" for turn in range(turns)))
    return at


async def test_a_hook_reads_what_is_about_to_happen(tmp_path: Path) -> None:
    heard = tmp_path / "heard.jsonl"
    at = await worked(tmp_path, options(pre_tool=f"cat >> {heard}; echo >> {heard}"), 2)
    told = [json.loads(line) for line in heard.read_text().splitlines()]
    assert [value["event"] for value in told] == ["pre_tool"] * 2
    assert told[0]["tool"] == "shell"
    assert told[0]["session_id"] == at.session.id
    assert json.loads(told[0]["arguments"]) == {"command": "seq 0 300"}


async def test_a_hook_stops_a_call_and_the_model_reads_why(tmp_path: Path) -> None:
    at = await worked(tmp_path, options(pre_tool="echo 'not on a Sunday' >&2; exit 2"), 1)
    assert at.texts("tool_result") == ["Stopped by a hook: not on a Sunday"]


async def test_a_hook_adds_to_a_result(tmp_path: Path) -> None:
    added = """echo '{"context": "the linter is content"}'"""
    at = await worked(tmp_path, options(post_tool=added), 1)
    assert at.texts("tool_result")[0].endswith("[A hook says: the linter is content]")


async def test_what_a_tool_did_stands_though_the_hook_after_it_is_interrupted(
    tmp_path: Path,
) -> None:
    mark = tmp_path / "mark"
    call = calls(("a", "write_file", '{"path": "n.txt", "content": "new"}'))
    at = await stage(tmp_path, [call], options=options(post_tool=f"touch {mark}; sleep 60"))
    at.session.send("write it")
    while not mark.exists():
        await asyncio.sleep(0.001)
    at.session.interrupt()
    await at.session.idle()
    assert "interrupted" not in at.texts("tool_result")[0]
    assert "file" in [event.kind for event in at.events() if isinstance(event, ArtifactObserved)]


async def test_what_a_tool_did_stands_though_no_hook_can_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    at = await worked(tmp_path, options(post_tool="true"), 1)
    assert at.texts("tool_result")[0].startswith("0\n1\n")
    assert any(text.startswith("Hook true: ") for text in at.told())


@pytest.mark.parametrize(
    ("command", "warning"),
    [
        ("exit 3", "exit code 3"),
        ("echo hello", "not valid JSON"),
        ("sleep 60", "took longer"),
        ("head -c 200000 /dev/zero", "not valid JSON"),
    ],
)
async def test_a_hook_that_fails_is_told_and_stops_nothing(
    tmp_path: Path, command: str, warning: str
) -> None:
    at = await stage(tmp_path, [says("Yes.")], options=options(0.5, session_start=command))
    await at.say("are you there?")
    assert at.kinds() == ["user", "assistant"]
    assert any(warning in text for text in at.told())


async def test_the_start_of_a_session_adds_to_the_window_once(tmp_path: Path) -> None:
    given = options(session_start="""echo '{"context": "the release is on Friday"}'""")
    at = await worked(tmp_path, given, 2)
    added = at.texts("context")
    assert added == ["the release is on Friday"]


async def test_a_compaction_that_a_hook_stops_is_journalled_and_changes_nothing(
    tmp_path: Path,
) -> None:
    at = await worked(tmp_path, options(pre_compact="echo 'the audit needs it whole' >&2; exit 2"))
    used = at.session.reading().used
    with pytest.raises(Stopped, match="the audit needs it whole"):
        await at.session.compact()
    ended = at.events_of(CompactionFinished)
    assert [(event.status, event.error) for event in ended] == [
        ("stopped", "the audit needs it whole")
    ]
    assert at.session.reading().used == used


async def test_after_a_compaction_a_hook_adds_to_the_new_window(tmp_path: Path) -> None:
    given = options(post_compact="""echo '{"context": "the ticket is PF-7"}'""")
    at = await worked(tmp_path, given)
    await at.session.compact("checkpoint")
    events = at.events()
    replaced = next(n for n, event in enumerate(events) if isinstance(event, WindowReplaced))
    assert isinstance(events[replaced + 1], CompactionFinished)
    assert at.session.items[-1].content == "the ticket is PF-7"
    assert at.session.window.form(at.session.items[-1].n) == "full"


async def test_esc_while_a_hook_looks_back_leaves_the_compaction_done(tmp_path: Path) -> None:
    at = await worked(tmp_path, options(post_compact="sleep 60"))
    running = asyncio.create_task(at.session.compact("checkpoint"))
    await at.until(lambda: any(text.startswith("Compaction complete") for text in at.told()))
    at.session.interrupt()
    assert await running is not None
    await at.session.idle()
    ended = [event.status for event in at.events() if isinstance(event, CompactionFinished)]
    assert ended == ["applied"]


async def test_a_hook_stops_a_prompt_which_goes_back(tmp_path: Path) -> None:
    stops = (
        """grep -q secret && { echo 'no secrets' >&2; exit 2; }; echo '{"context": "It rains."}'"""
    )
    at = await stage(tmp_path, [says("Hello.")], options=options(user_prompt=stops))
    ending = await at.session.send("the secret is 1")
    assert (ending.state, ending.sent) == ("failed", False)
    assert "A hook stopped this prompt: no secrets" in at.told()
    assert PromptReturned("the secret is 1") in at.heard
    await at.session.idle()
    assert (await at.session.send("hello")).answer == "Hello."
    assert at.kinds() == ["context", "user", "assistant"]
    assert at.session.items[0].content == "It rains."


async def test_a_hook_stops_a_prompt_that_would_join_a_turn(tmp_path: Path) -> None:
    gate = asyncio.Event()
    stops = "grep -q secret && { echo 'no secrets' >&2; exit 2; }; true"
    script = [[gate, *calls(("c1", "list_dir", "{}"))], says("Done.")]
    at = await stage(tmp_path, script, options=options(user_prompt=stops))
    at.session.send("begin")
    await at.until(lambda: bool(at.provider.requests))
    at.session.send("secret")
    gate.set()
    await at.session.idle()
    assert PromptReturned("secret") in at.heard
    assert at.ended == "done"
    assert not at.session._record.state.queue


async def test_a_stop_hook_has_the_agent_go_on_a_few_times(tmp_path: Path) -> None:
    script = [says(f"Part {at}.") for at in range(4)]
    at = await stage(tmp_path, script, options=options(stop="echo 'tests fail' >&2; exit 2"))
    ending = await at.session.send("fix it")
    assert (ending.state, ending.answer) == ("done", "Part 3.")
    assert at.kinds() == ["user", *["assistant", "context"] * 3, "assistant"]
    assert at.session.items[2].content == "[A hook says that you are not done: tests fail]"


async def test_a_hook_hears_that_the_user_is_notified(tmp_path: Path) -> None:
    heard = tmp_path / "heard.json"
    os.mkfifo(heard)
    at = await stage(tmp_path, [], options=options(notification=f"cat > {heard}"))
    at.session.notified("the turn has ended")
    told = json.loads(await asyncio.to_thread(heard.read_text))
    assert (told["event"], told["message"]) == ("notification", "the turn has ended")
    await at.session.close()
