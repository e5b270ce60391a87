"""Commands in the sandbox of a session: what runs unasked, what is offered again, what is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.agent import Stage, stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.ports.approver import Decision
from pinfold.ports.tool import Sandbox
from pinfold.rollout.events import ApprovalDecided
from pinfold.settings import Mode
from pinfold.tools.sandbox.confine import find

pytestmark = pytest.mark.skipif(find().kind != "bubblewrap", reason=find().text)

CONNECT = "bash -c 'echo > /dev/tcp/127.0.0.1/1' || { echo Connection refused; exit 7; }"


def shell(command: str, **more: Any) -> tuple[str, str, str]:
    return ("c1", "shell", json.dumps({"command": command, **more}))


def options(root: Path, mode: Mode, **changed: Any) -> Options:
    work = (root / "work").resolve()
    return Options(
        approvals=mode, sandbox=Sandbox("bubblewrap", (work,), root / "scratch"), **changed
    )


async def ran(
    root: Path, mode: Mode, call: tuple[str, str, str], *answers: Decision, **changed: Any
) -> tuple[Stage, str]:
    """The session, and what the model read of the call."""
    script = [calls(call), says("Done.")]
    on = await stage(root, script, *answers, options=options(root, mode, **changed))
    await on.say("go")
    result = on.items("tool_result")[0]
    return on, result.content


async def test_a_command_runs_unasked_in_workspace(tmp_path: Path) -> None:
    """What succeeds is never offered again, whatever it prints."""
    command = "echo hi > x; cat x; echo Connection refused; echo EROFS"
    on, said = await ran(tmp_path, "workspace", shell(command))
    assert not on.user.asked
    assert said.startswith("hi\n")
    assert "exit code 0" in said
    assert (tmp_path / "work" / "x").exists()


async def test_ask_says_that_it_would_run_in_the_sandbox(tmp_path: Path) -> None:
    on, said = await ran(tmp_path, "ask", shell("echo $PINFOLD_SANDBOX"), Decision("yes"))
    assert on.user.asked[0].reason == "runs in the sandbox"
    assert not on.user.asked[0].outside
    assert said.startswith("bubblewrap\n")


async def test_read_only_runs_commands_that_can_write_nothing(tmp_path: Path) -> None:
    on, said = await ran(tmp_path, "read-only", shell("pwd; touch x"))
    assert not on.user.asked
    assert str(tmp_path / "work") in said
    assert "Approvals are read-only." in said
    assert not (tmp_path / "work" / "x").exists()


async def test_read_only_lets_nothing_out(tmp_path: Path) -> None:
    on, said = await ran(tmp_path, "read-only", shell("touch x", outside="please"))
    assert not on.user.asked
    assert "nothing runs outside the sandbox" in said


async def test_full_has_no_sandbox(tmp_path: Path) -> None:
    _, said = await ran(tmp_path, "full", shell("echo ${PINFOLD_SANDBOX-none}", outside="no"))
    assert said.startswith("none\n")


@pytest.mark.parametrize(
    ("decision", "way", "told"),
    [
        (Decision("yes"), "outside", "the user let it run outside it."),
        (Decision("yes", network=True), "network", "the user let it run with the network."),
    ],
)
async def test_a_command_without_network_is_offered_again(
    tmp_path: Path, decision: Decision, way: str, told: str
) -> None:
    command = f"echo ${{PINFOLD_SANDBOX-none}}; [ -e tried ] || {{ touch tried; {CONNECT}; }}"
    on, said = await ran(tmp_path, "workspace", shell(command), decision)
    assert len(on.user.asked) == 1
    question = on.user.asked[0]
    assert (question.outside, question.network) == (True, True)
    assert question.reason.startswith("failed in its sandbox: no network")
    assert question.prefix is None
    assert said.startswith(f"[It failed in its sandbox; {told}]\n")
    assert ("none\n" in said) == (way == "outside")
    decided = on.events_of(ApprovalDecided)
    assert [event.way for event in decided] == [way]


async def test_a_command_may_be_changed_before_it_runs_again(tmp_path: Path) -> None:
    changed = Decision("yes", arguments=json.dumps({"command": "echo changed"}))
    on, said = await ran(tmp_path, "workspace", shell(CONNECT), changed)
    assert on.items("tool_result")[0].detail["command"] == "echo changed"
    assert len(on.user.asked) == 1
    assert said.startswith("[The user changed the arguments to")
    assert "changed\n[exit code 0" in said


async def test_a_denied_write_is_offered_outside_alone(tmp_path: Path) -> None:
    command = "touch /usr/x-pinfold || exit 1"
    on, said = await ran(tmp_path, "workspace", shell(command), Decision("no", "never"))
    assert (on.user.asked[0].outside, on.user.asked[0].network) == (True, False)
    assert said.startswith(
        "[This may have failed because of its sandbox: writes only in its folder"
    )
    assert "They said: never" in said
    assert "Read-only file system" in said


async def test_what_the_user_declined_is_not_offered_twice(tmp_path: Path) -> None:
    again = ("c2", *shell(CONNECT)[1:])
    script = [calls(shell(CONNECT)), calls(again), says("Done.")]
    on = await stage(tmp_path, script, Decision("no"), options=options(tmp_path, "workspace"))
    await on.say("go")
    assert len(on.user.asked) == 1
    assert "The user did not let it run again." in on.session.items[-2].content


async def test_where_nobody_can_be_asked_the_model_is_told(tmp_path: Path) -> None:
    nobody = Decision("policy", "nobody can be asked here")
    _on, said = await ran(tmp_path, "workspace", shell(CONNECT), nobody)
    assert "nobody can be asked here" in said
    assert "Connection refused" in said


async def test_the_model_asks_for_the_outside_with_a_reason(tmp_path: Path) -> None:
    call = shell("echo ${PINFOLD_SANDBOX-none}", outside="it\nneeds docker")
    on, said = await ran(tmp_path, "workspace", call, Decision("yes"))
    assert on.user.asked[0].reason == "outside the sandbox: it needs docker"
    assert said.startswith("none\n")


async def test_the_network_alone_may_be_the_answer(tmp_path: Path) -> None:
    call = shell("echo $PINFOLD_SANDBOX", outside="to fetch packages")
    on, said = await ran(tmp_path, "workspace", call, Decision("yes", network=True))
    assert on.user.asked[0].network
    assert said.startswith("bubblewrap\n")


async def test_allowed_prefixes_do_not_lead_outside(tmp_path: Path) -> None:
    call = shell("echo hi", outside="because")
    on, _ = await ran(tmp_path, "workspace", call, Decision("no"), allow=("echo",))
    assert on.user.asked[0].outside


@pytest.mark.parametrize("mode", ["ask", "workspace", "full"])
async def test_what_is_denied_runs_in_no_mode(tmp_path: Path, mode: Mode) -> None:
    commands = ("git push", "cd x && /usr/bin/git push -f", "sh -c 'git push'")
    made = calls(*((f"c{n}", *shell(command)[1:]) for n, command in enumerate(commands)))
    given = options(tmp_path, mode, deny=("git push",), allow=("git push",))
    on = await stage(tmp_path, [made, says("Done.")], options=given)
    await on.say("go")
    assert not on.user.asked
    assert on.texts("tool_result") == ["Refused: `git push` is denied by [approvals] deny."] * 3


async def test_a_guarded_place_is_set_aside_and_told(tmp_path: Path) -> None:
    _on, said = await ran(tmp_path, "workspace", shell("mkdir .husky; echo x > .husky/pre-push"))
    moved = tmp_path / "scratch" / "set-aside" / ".husky.1"
    assert (
        ".husky was set aside: it runs at the next commit. Only the user may bring it back: "
        f"{moved}" in said
    )
    assert (moved / "pre-push").read_text() == "x\n"
    assert not (tmp_path / "work" / ".husky").exists()


async def test_the_users_own_command_runs_outside(tmp_path: Path) -> None:
    on = await stage(tmp_path, [], options=options(tmp_path, "workspace"))
    on.session.run_command("echo ${PINFOLD_SANDBOX-none}")
    await on.session.idle()
    assert "none\n" in on.session.items[-1].content


async def test_the_model_is_told_once_and_when_it_changes(tmp_path: Path) -> None:
    script = [says("one"), says("two"), says("three")]
    on = await stage(tmp_path, script, options=options(tmp_path, "workspace"))
    for prompt, mode in (("a", "workspace"), ("b", "workspace"), ("c", "read-only")):
        on.session.set_approvals(mode)
        await on.say(prompt)
    turn = ["user", "assistant"]
    assert on.kinds() == ["context", *turn, *turn, "context", *turn]
    first, second = (item.content for item in on.session.items if item.kind == "context")
    assert first.startswith(
        "Approvals are workspace: commands run without asking in a sandbox without"
    )
    assert "commands run in a sandbox without network and can't write. Your context" in second
    contexts = [request.context for request in on.provider.requests]
    assert contexts == contexts[:1] * 3
    again = await on.again([says("four")], options=options(tmp_path, "read-only"))
    await again.say("d")
    assert again.kinds()[-3:] == ["assistant", "user", "assistant"]


async def test_without_a_sandbox_the_model_is_told_so(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("one")], options=Options(no_sandbox="bwrap is missing"))
    await on.say("a")
    assert "ask the user, and run in no sandbox. " in on.session.items[0].content
    assert on.session.unconfined == "bwrap is missing"
