"""What each command does, on a context that is no screen."""

from pathlib import Path

import pytest

from fakes.commands import FakeContext, run
from pinfold.commands.arguments import CommandError
from pinfold.ports.tool import ToolContext
from pinfold.rollout.items import Item


@pytest.fixture
def context() -> FakeContext:
    return FakeContext()


@pytest.mark.parametrize(
    ("text", "panel"),
    [
        ("/help", "help"),
        ("/theme", "themes"),
        ("/resume", "sessions"),
        ("/sessions", "sessions"),
        ("/context", "context"),
        ("/model", "models"),
        ("/effort", "effort"),
    ],
)
async def test_panels(context: FakeContext, text: str, panel: str) -> None:
    await run(context, text)
    assert context.opened == [panel]


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("/new", "new"),
        ("/fork", "fork None"),
        ("/fork #12", "fork 12"),
        ("/fork --compact", "handed on None None"),
        ("/fork --compact --model m --strategy core", "handed on core m"),
        ("/resume 0197", "resume 0197"),
    ],
)
async def test_sessions_are_switched(context: FakeContext, text: str, opened: str) -> None:
    await run(context, text)
    assert context.host.opened == [opened]


async def test_fork_wants_a_number(context: FakeContext) -> None:
    with pytest.raises(CommandError, match="number of an item"):
        await run(context, "/fork last")


@pytest.mark.parametrize("wrong", ["--compact --model", "--compactly", "--compact --x y"])
async def test_a_compacted_copy_is_asked_for_in_one_way(context: FakeContext, wrong: str) -> None:
    with pytest.raises(CommandError, match="--strategy S"):
        await run(context, f"/fork {wrong}")


async def test_fork_waits_for_the_turn(context: FakeContext) -> None:
    context.session.enter("streaming")
    with pytest.raises(CommandError, match="A turn is running"):
        await run(context, "/fork")


async def test_model_is_changed(context: FakeContext) -> None:
    await run(context, "/model o3")
    assert context.session.model.name == "o3"
    assert "o3 from openai" in context.told[0]
    assert "272,000 tokens (table)" in context.told[0]


async def test_a_model_that_is_not_there_is_a_plain_error(context: FakeContext) -> None:
    with pytest.raises(CommandError, match="no model named nonsense"):
        await run(context, "/model nonsense")


async def test_approvals(context: FakeContext) -> None:
    await run(context, "/approvals workspace")
    assert context.session.approvals == "workspace"
    await run(context, "/approvals")
    await run(context, "/approvals full")
    assert context.opened == ["approvals", "approvals"]
    assert context.search == "full"
    assert context.session.approvals == "workspace"
    with pytest.raises(CommandError, match="read-only, ask, workspace, full, plan or nothing"):
        await run(context, "/approvals yolo")


async def test_theme(context: FakeContext) -> None:
    await run(context, "/theme tide")
    assert context.theme == "tide"
    with pytest.raises(CommandError, match="no theme “mud”"):
        await run(context, "/theme mud")


async def test_copy_takes_the_last_reply(context: FakeContext) -> None:
    with pytest.raises(CommandError, match="no reply"):
        await run(context, "/copy")
    for n, kind, content in (1, "assistant", "first"), (2, "assistant", "second"), (3, "user", "x"):
        context.session.append(Item(n=n, kind=kind, content=content))
    await run(context, "/copy")
    assert context.copied == "second"


async def test_the_rest(context: FakeContext) -> None:
    await run(context, "/trust")
    assert context.host.trusted
    await run(context, "/doctor")
    assert "python" in context.told[-1]
    await run(context, "/editor")
    assert context.edited
    await run(context, "/quit")
    assert context.left


async def test_jobs_lists_and_ends_background_commands(
    context: FakeContext, tmp_path: Path
) -> None:
    await run(context, "/jobs")
    assert context.told == ["No commands are running in the background."]
    where = ToolContext(tmp_path, tmp_path / "session", "c1", print)
    job = await context.session.jobs.start("npm run dev", ["sleep", "600"], {}, where)
    await run(context, "/jobs")
    assert context.told[-1] == f"1  npm run dev · running for 0s · {job.path}"
    await run(context, "/jobs kill 1")
    await run(context, "/jobs")
    assert "1  npm run dev · killed by the user after 0s" in context.told[-1]
    with pytest.raises(CommandError, match="no background command 2"):
        await run(context, "/jobs kill 2")
    with pytest.raises(CommandError, match="/jobs kill 1 ends one"):
        await run(context, "/jobs 1")


async def test_init_sends_a_prompt_of_ours(context: FakeContext) -> None:
    await run(context, "/init")
    (sent,) = context.session.sent
    assert sent.startswith("Write an AGENTS.md")
