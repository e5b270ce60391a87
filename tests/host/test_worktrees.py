"""Git worktrees to work in: made, used again, and removed where nothing would be lost."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from fakes.process import Pinfold
from pinfold.host.app_context import WrongUse
from pinfold.host.worktrees import remove, use, worktrees


def run(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    repo = (tmp_path / "work").resolve()
    (repo / "src").mkdir(parents=True)
    run(repo, "init", "-q", "-b", "main")
    (repo / "src" / "a.py").write_text("one\n")
    run(repo, "add", ".")
    run(repo, "commit", "-qm", "first")
    return repo


async def test_it_is_made_beside_the_repository_and_used_again(repo: Path) -> None:
    folder, said = await use(repo / "src", "fix")
    assert folder == repo.parent / "work.worktrees" / "fix" / "src"
    assert said.startswith("New worktree fix:")
    assert run(folder, "branch", "--show-current") == "pinfold/fix\n"
    (folder / "a.py").write_text("two\n")
    again, said = await use(folder, "fix")  # from inside it, too
    assert (again, (again / "a.py").read_text()) == (folder, "two\n")
    assert said.startswith("Worktree fix:")


async def test_only_a_clean_one_is_removed(repo: Path) -> None:
    folder, _ = await use(repo, "fix")
    (folder / "new.txt").write_text("mine")
    with pytest.raises(WrongUse, match="uncommitted changes in 1 file"):
        await remove(repo, "fix")
    assert [(found.name, found.changed) for found in await worktrees(repo)] == [("fix", 1)]
    run(folder, "add", ".")
    run(folder, "commit", "-qm", "mine")
    assert "is not merged and stays" in await remove(repo, "fix")
    assert not folder.exists()
    folder, _ = await use(repo, "fix")  # on the branch that stayed
    assert (folder / "new.txt").read_text() == "mine"
    run(repo, "merge", "-q", "pinfold/fix")
    assert "which was merged" in await remove(repo, "fix")
    assert run(repo, "branch", "--list", "pinfold/*") == ""


async def test_nothing_that_the_repository_names_runs(repo: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    hook = repo / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    (repo / ".gitattributes").write_text("*.py filter=bad\n*.txt filter=worse\n")
    (repo / "b.txt").write_text("two\n")
    run(repo, "add", ".")
    run(repo, "commit", "-qm", "attributes")
    for name in ("smudge", "clean", "process"):
        run(repo, "config", f"filter.bad.{name}", f"touch {ran}; cat")
    run(repo, "config", "filter.bad.required", "true")
    run(repo, "config", "core.fsmonitor", f"touch {ran}")
    run(repo, "config", "extensions.worktreeConfig", "true")
    run(repo, "config", "--worktree", "filter.worse.smudge", f"touch {ran}; cat")
    folder, _ = await use(repo, "fix")
    (folder / "src" / "a.py").write_text("one\n")  # so that its content is compared
    assert (folder / "src" / "a.py").read_text() == "one\n"
    await remove(repo, "fix")
    assert not ran.exists()


async def test_a_missing_object_is_not_fetched(repo: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    blob = run(repo, "rev-parse", "HEAD:src/a.py").strip()
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    run(repo, "config", "core.repositoryFormatVersion", "1")
    run(repo, "config", "extensions.partialClone", "origin")
    for name, value in {"promisor": "true", "url": str(repo), "uploadpack": f"touch {ran}"}.items():
        run(repo, "config", f"remote.origin.{name}", value)
    with pytest.raises(WrongUse, match="The worktree fix was not made"):
        await use(repo, "fix")
    assert not ran.exists()


@pytest.mark.parametrize("name", ["", "-x", "../up", "a/b", "a..b", "x.lock", "a b", "é"])
async def test_a_name_that_is_no_plain_name_is_refused(repo: Path, name: str) -> None:
    with pytest.raises(WrongUse, match="A worktree's name has letters"):
        await use(repo, name)


async def test_where_there_is_no_repository_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="needs a Git repository with a commit"):
        await use(tmp_path, "fix")


def test_the_command_line_works_in_it(repo: Path, tmp_path: Path) -> None:
    async def play() -> None:
        pinfold = Pinfold(tmp_path)
        listed = await pinfold.run("worktree")
        assert "No worktrees" in listed.out
        wrong = await pinfold.run("--worktree", "a/b", "-p", "hello")
        assert (wrong.code, "A worktree's name" in wrong.err) == (2, True)
        await pinfold.run("--worktree", "fix", "-p", "hello", "-c", "model.provider=none")
        listed = await pinfold.run("worktree", "list")
        assert "fix" in listed.out
        assert "clean" in listed.out
        removed = await pinfold.run("worktree", "remove", "fix")
        assert removed.out.startswith("Removed ")

    asyncio.run(play())
