"""Commands in the background of a session: what the model is told of them, and when they end."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.agent import Stage, stage
from fakes.process import alive, until
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.ports.tool import Sandbox
from pinfold.rollout.events import JobEnded, JobStarted
from pinfold.rollout.journal import Journal
from pinfold.settings import Mode
from pinfold.tools.sandbox.confine import find

WAITING = "echo begun; until [ -e go ]; do sleep 0.02; done; echo done; exit 3"
FULL = Options(approvals="full")


def shell(command: str, **more: Any) -> tuple[str, str, str]:
    return ("c1", "shell", json.dumps({"command": command, "background": True, **more}))


def output(wait: int) -> tuple[str, str, str]:
    return ("c2", "shell_output", json.dumps({"job": 1, "wait": wait}))


async def send(on: Stage, text: str) -> None:
    await on.say(text)


async def test_the_end_is_told_before_the_next_request(tmp_path: Path) -> None:
    on = await stage(
        tmp_path, [calls(shell(WAITING)), says("It runs."), says("It failed.")], options=FULL
    )
    await send(on, "start it")
    assert [job.command for job in on.session.jobs.running] == [WAITING]
    assert [item.kind for item in on.session.items][-2:] == ["tool_result", "assistant"]
    (tmp_path / "work" / "go").touch()
    await on.until(lambda: not on.session.jobs.running)
    await on.until(lambda: any("has ended (exit code 3)" in text for text in on.told()))
    await send(on, "go on")
    item = next(item for item in on.session.items if "has ended" in item.content)
    assert item.content.startswith(f"Background command 1 (`{WAITING}`) has ended: exit code 3")
    assert item.content.endswith("The end of its output:\nbegun\ndone\n")
    assert item.detail["ok"] is False
    assert item in on.provider.requests[-1].items
    await on.session.close()


async def test_what_the_model_has_read_is_not_repeated(tmp_path: Path) -> None:
    script = [calls(shell("echo all; exit 0")), calls(output(20)), says("Done.")]
    on = await stage(tmp_path, script, options=FULL)
    await send(on, "go")
    assert sum("all\n" in item.content for item in on.session.items) == 1
    await on.session.close()


async def test_one_that_the_model_ends_is_not_told_again(tmp_path: Path) -> None:
    kill = ("c2", "shell_kill", json.dumps({"job": 1}))
    on = await stage(
        tmp_path, [calls(shell("sleep 600")), calls(kill), says("Done.")], options=FULL
    )
    await send(on, "go")
    assert "context" not in on.kinds()
    assert [event.reason for event in on.events() if isinstance(event, JobEnded)] == ["killed"]
    await on.session.close()


async def test_after_a_compaction_the_model_is_told_what_runs(tmp_path: Path) -> None:
    on = await stage(
        tmp_path,
        [calls(shell("sleep 600")), says("It runs."), says("Still."), says("Still.")],
        options=FULL,
    )
    await send(on, "start it")
    await on.session.compact("checkpoint")
    await send(on, "go on")
    path = on.session.jobs.running[0].path
    runs = f"These commands are running in the background:\n- 1: `sleep 600`, output in {path}"
    assert [item.content for item in on.provider.requests[-1].items].count(runs) == 1
    await send(on, "go on")
    assert [item.content for item in on.provider.requests[-1].items].count(runs) == 1
    await on.session.close()


async def test_all_end_with_the_session_and_the_next_opening_knows(tmp_path: Path) -> None:
    command = "echo $$ > pid.tmp; mv pid.tmp pid; sleep 600"
    on = await stage(tmp_path, [calls(shell(command)), says("It runs.")], options=FULL)
    await send(on, "go")
    pid = tmp_path / "work" / "pid"
    await until(pid.exists)
    await on.session.close()
    assert not alive(int(pid.read_text()))
    again = await on.again([says("Gone.")], options=FULL)
    await send(again, "does it run?")
    said = [item.content for item in again.session.items if "has ended" in item.content]
    assert len(said) == 1
    assert "has ended: the session was closed" in said[0]
    await again.session.close()


async def test_what_a_crash_left_is_closed_and_told(tmp_path: Path) -> None:
    """Nothing is read of a file that only the journal names."""
    secret = tmp_path / "secret"
    secret.write_text("sk-123")
    on = await stage(tmp_path, [])
    await on.session.close()
    with Journal.open(on.session.folder, on.clock.now) as journal:
        journal.append(JobStarted(job=4, command="npm run dev", output=str(secret)))
    again = await on.again([says("Gone.")], options=FULL)
    await send(again, "does it run?")
    [said] = [item.content for item in again.session.items if "has ended" in item.content]
    assert said.startswith("Background command 4 (`npm run dev`) has ended: pinfold stopped.")
    assert "sk-123" not in said
    await again.session.close()


async def test_a_background_command_asks_like_any(tmp_path: Path) -> None:
    from pinfold.ports.approver import Decision

    mode: Mode = "ask"
    on = await stage(
        tmp_path,
        [calls(shell("touch x")), says("No.")],
        Decision("no"),
        options=Options(approvals=mode),
    )
    await send(on, "go")
    assert on.user.asked[0].review.background
    assert not on.session.jobs.running
    await on.session.close()


@pytest.mark.skipif(find().kind != "bubblewrap", reason=find().text)
async def test_what_the_user_makes_while_one_runs_stays(tmp_path: Path) -> None:
    """What the background command makes itself is set aside."""
    work = tmp_path / "work"
    work.mkdir()
    sandbox = Sandbox("bubblewrap", (work.resolve(),), tmp_path / "scratch")
    command = "touch .envrc; until [ -e go ]; do sleep 0.02; done; touch go2 .vscode"
    on = await stage(
        tmp_path,
        [calls(shell(command)), says("It runs."), says("Over.")],
        options=Options(approvals="workspace", sandbox=sandbox),
    )
    await send(on, "go")
    await until((work / ".envrc").exists)
    on.session.run_command("git init -q .")
    await on.session.idle()
    (work / "go").touch()
    await on.until(lambda: not on.session.jobs.running)
    await send(on, "what now?")
    assert (work / ".git" / "HEAD").exists()
    assert not (work / ".envrc").exists()
    assert not (work / ".vscode").exists()
    assert any(".envrc was set aside" in text for text in on.told())
    await on.session.close()
