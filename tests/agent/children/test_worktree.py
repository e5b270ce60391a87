"""An agent in a Git worktree of its own."""

from pathlib import Path

import pytest

from fakes.agents import Cast, task, troupe
from fakes.provider import calls, says
from fakes.repository import commit_all
from pinfold.agent.children.definition import Agent
from pinfold.agent.options import Options
from pinfold.host import worktrees
from pinfold.host.agent_worktrees import AgentWorktrees
from pinfold.rollout.events import ChildStarted, SessionStarted
from pinfold.tools.git import git

WRITE = '{"path": "b.txt", "content": "from the agent"}'


@pytest.fixture
async def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("seven\n")
    commit_all(work)
    return work


@pytest.mark.parametrize("fork", ["none", "all"])
async def test_its_changes_stay_there_and_the_result_says_where(
    tmp_path: Path, work: Path, fork: str
) -> None:
    on = await troupe(
        tmp_path,
        [calls(task("c1", "change", isolation="worktree", fork_turns=fork)), says("ok")],
        {"change": [calls(("w", "write_file", WRITE)), says("Changed.")]},
        options=Options(approvals="workspace"),
        worktrees=AgentWorktrees(work),
    )
    await on.session.send("go")
    started = on.events_of(ChildStarted)[0]
    end = on.session.children.end(1)
    assert end is not None
    folder = tmp_path / "work.worktrees" / started.worktree
    assert end.worktree == str(folder)
    assert end.files == ("b.txt",)
    assert (folder / "b.txt").read_text() == "from the agent"
    assert not (work / "b.txt").exists()
    (result,) = (item.content for item in on.session.items if item.kind == "tool_result")
    assert f"its worktree is kept: {folder}, branch pinfold/{started.worktree}" in result
    first = (await on.session.children.events(started))[0].data
    assert isinstance(first, SessionStarted)
    assert first.cwd == str(folder)
    assert isinstance(on.provider, Cast)
    assert str(folder) in on.provider.parts["change"].requests[0].items[-1].content
    await on.session.close()


async def test_one_without_changes_is_removed(tmp_path: Path, work: Path) -> None:
    on = await troupe(
        tmp_path,
        [calls(task("c1", "look", agent="apart")), says("ok")],
        {"look": [calls(("l", "read_file", '{"path": "a.txt"}')), says("Seen.")]},
        agents={"apart": Agent("apart", worktree=True)},
        worktrees=AgentWorktrees(work),
    )
    await on.session.send("go")
    end = on.session.children.end(1)
    assert end is not None
    assert (end.state, end.worktree) == ("done", "")
    assert not await worktrees.worktrees(work)
    assert "pinfold/" not in await git(work, "branch", "--list")
    await on.session.close()


async def test_one_with_a_commit_stays(work: Path) -> None:
    own = AgentWorktrees(work)
    folder = await own.make("a1-abc")
    await git(folder, "commit", "-q", "--allow-empty", "-m", "second")
    assert await own.leave("a1-abc") == str(folder)
    assert folder.is_dir()


@pytest.mark.parametrize(
    ("approvals", "repository", "why"),
    [
        ("read-only", True, "Approvals are read-only: a worktree can't be created"),
        ("full", False, "A worktree needs a Git repository with a commit"),
    ],
)
async def test_where_there_can_be_none_it_says_so(
    tmp_path: Path, work: Path, approvals: str, repository: bool, why: str
) -> None:
    folder = work if repository else tmp_path / "elsewhere"
    folder.mkdir(exist_ok=True)
    on = await troupe(
        tmp_path,
        [calls(task("c1", "x", worktree=True)), says("ok")],
        {},
        options=Options(approvals=approvals),  # type: ignore[arg-type]
        worktrees=AgentWorktrees(folder),
    )
    await on.session.send("go")
    (result,) = (item.content for item in on.session.items if item.kind == "tool_result")
    assert result.startswith(f"[agent a1 · failed: {why}")
    assert not (tmp_path / "work.worktrees").exists()
    await on.session.close()
