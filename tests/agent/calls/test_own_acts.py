"""What the results of the agent's own calls say of themselves."""

import json
from pathlib import Path
from typing import Any

from fakes.agent import Stage, stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.ports.approver import Decision
from pinfold.rollout.acts import Act, Step, act
from pinfold.rollout.events import Event
from pinfold.rollout.memory import Evidence

FULL = Options(approvals="full")


async def run(root: Path, *wanted: tuple[str, dict[str, Any]], options: Options = FULL) -> Stage:
    called = [(f"c{n}", name, json.dumps(given)) for n, (name, given) in enumerate(wanted)]
    on = await stage(root, [calls(*called), says("Done.")], Decision("no"), options=options)
    (root / "work" / "a.txt").write_text("one\ntwo\n")
    await on.say("go")
    return on


def acts(on: Stage) -> list[Act]:
    called = {item.call_id: item for item in on.session.items if item.kind == "tool_call"}
    results = on.items("tool_result")
    return [found for item in results if (found := act(called[item.call_id], item))]


async def test_each_tool_states_its_act(tmp_path: Path) -> None:
    edit = {"path": "a.txt", "old_string": "two", "new_string": "2\n3"}
    command = "echo 'a\nb'; exit 3"
    on = await run(
        tmp_path,
        ("edit_file", edit),
        ("shell", {"command": command}),
        ("read_file", {"path": "a.txt"}),
    )
    edited, ran, read = acts(on)
    assert (edited.kind, edited.title) == ("edit", "edit a.txt")
    assert (edited.paths, edited.added, edited.removed) == (("a.txt",), 2, 1)
    assert (ran.kind, ran.title, ran.ok, ran.exit_code) == ("command", f"$ {command}", False, 3)
    assert ran.text == "a\nb\n"
    assert (read.kind, read.title) == ("read", "read a.txt")


async def test_a_call_that_could_not_be_done_says_what_it_was(tmp_path: Path) -> None:
    edit = {"path": "a.txt", "old_string": "three", "new_string": "3"}
    (failed,) = acts(await run(tmp_path, ("edit_file", edit)))
    assert (failed.kind, failed.title, failed.ok) == ("edit", "edit_file a.txt", False)


async def test_a_refused_call_says_what_it_would_have_done(tmp_path: Path) -> None:
    on = await run(tmp_path, ("shell", {"command": "make"}), options=Options(approvals="ask"))
    (refused,) = acts(on)
    assert (refused.kind, refused.title) == ("refused", "$ make")


async def test_arguments_that_the_user_changed_are_no_output(tmp_path: Path) -> None:
    changed = Decision("yes", arguments=json.dumps({"command": "echo b"}))
    call = ("c0", "shell", json.dumps({"command": "echo a"}))
    on = await stage(
        tmp_path, [calls(call), says("Done.")], changed, options=Options(approvals="ask")
    )
    await on.say("go")
    (ran,) = acts(on)
    assert (ran.title, ran.text) == ("$ echo b", "b\n")


async def test_the_last_plan_of_a_response_stands(tmp_path: Path) -> None:
    first, last = (
        {"steps": [{"text": text, "status": "in_progress"}]} for text in ("Look", "Leap")
    )
    on = await run(tmp_path, ("update_plan", first), ("update_plan", last))
    assert [done.plan for done in acts(on)] == [
        (Step("Look", "in_progress"),),
        (Step("Leap", "in_progress"),),
    ]
    state = CheckpointState()
    for seq, data in enumerate(on.events(), 1):
        state.step(Event(seq, on.clock.now(), data))
    plan = state.snapshot().plan
    assert [step.text for step in plan.steps] == ["Leap"]
    assert plan.evidence == Evidence("tool_output", "c1")


async def test_the_users_own_command_is_said(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("I see.")])
    on.session.run_command("echo seen")
    await on.session.idle()
    done = act(None, on.session.items[0])
    assert done is not None
    assert (done.kind, done.words, done.text) == ("said", "!echo seen", "seen\n")
    assert (done.exit_code, on.session.items[0].name) == (0, "shell")
    assert not on.user.asked
