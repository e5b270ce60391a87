"""Edits of what other programs run later."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinfold.ports.tool import Review
from pinfold.settings import Mode
from pinfold.tools.approvals import Allowed, Ask, Denied, verdict


def of(root: Path, *names: str, mode: Mode = "workspace") -> Any:
    review = Review("write", "edit", tuple(root / name for name in names))
    return verdict(mode, review, False, root, ())


@pytest.mark.parametrize(
    "name",
    [
        ".git/hooks/pre-commit",
        ".GIT/config",
        "sub/.git",
        ".pinfold/config.toml",
        "sub/.Pinfold/prompts/handoff.md",
        ".vscode/tasks.json",
        ".idea/workspace.xml",
        ".devcontainer/devcontainer.json",
        ".envrc",
        "deep/er/.envrc",
        ".husky/pre-push",
        ".pre-commit-config.yaml",
        ".claude/settings.json",
        ".claude/agents/any.md",
        ".pinfold/agents/any.md",
        ".agents/skills/a/SKILL.md",
        ".codex/config.toml",
        ".mcp.json",
        ".github/workflows/ci.yml",
        ".gitlab-ci.yml",
        ".bashrc",
        ".zshenv",
        ".config/fish/config.fish",
        ".config/autostart/x.desktop",
    ],
)
def test_what_runs_later_asks_in_every_mode_but_full(tmp_path: Path, name: str) -> None:
    for mode in ("ask", "workspace"):
        asked = of(tmp_path, name, mode=mode)
        assert isinstance(asked, Ask)
        assert asked.reason.startswith(f"writes {name}: ")
    assert isinstance(of(tmp_path, name, mode="read-only"), Denied)
    assert isinstance(of(tmp_path, name, mode="full"), Allowed)


@pytest.mark.parametrize(
    "name",
    [
        ".gitignore",
        ".gitattributes",
        ".github/CODEOWNERS",
        "Makefile",
        "package.json",
        "AGENTS.md",
        "src/vscode/tasks.json",
        "git/config",
        "docs/HEAD",
        "app/config",
        "lib/objects/x.py",
        "refs/y",
    ],
)
def test_what_somebody_asks_to_run_does_not(tmp_path: Path, name: str) -> None:
    assert isinstance(of(tmp_path, name), Allowed)


def test_the_card_says_what_becomes_of_it(tmp_path: Path) -> None:
    assert of(tmp_path, "a.py", ".vscode/tasks.json") == Ask(
        "writes .vscode/tasks.json: editors run its commands when they open the folder"
    )


@pytest.mark.parametrize("last", ["HEAD", "objects/x", "refs/heads/x"])
def test_a_write_that_makes_a_folder_a_repository_asks(tmp_path: Path, last: str) -> None:
    there = {"HEAD", "objects/x", "refs/heads/x"} - {last}
    for name in there:
        (tmp_path / "tool" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tool" / name).touch()
    assert isinstance(of(tmp_path, "tool/config"), Allowed)
    assert isinstance(of(tmp_path, f"tool/{last}"), Ask)
    (tmp_path / "tool" / last).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "tool" / last).touch()
    assert isinstance(of(tmp_path, "tool/config"), Ask)
    assert isinstance(of(tmp_path, "tool/hooks/post-index-change"), Ask)
    assert isinstance(of(tmp_path, "other/config"), Allowed)


def test_one_patch_that_makes_a_folder_a_repository_asks(tmp_path: Path) -> None:
    whole = [f"tool/{name}" for name in ("HEAD", "objects/x", "refs/x")]
    assert isinstance(of(tmp_path, *whole), Ask)
    assert isinstance(of(tmp_path, *whole[1:]), Allowed)


def test_the_workspace_may_lie_in_such_a_folder(tmp_path: Path) -> None:
    worktree = tmp_path / ".claude" / "worktrees" / "x"
    (worktree / ".git").mkdir(parents=True)
    assert isinstance(of(worktree, "a.py"), Allowed)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".vscode").mkdir()
    assert isinstance(of(tmp_path / ".vscode", "tasks.json"), Ask)
    assert isinstance(of(tmp_path / ".git", "config"), Ask)


async def test_a_link_does_not_hide_where_a_write_goes(
    work: Path, tools: dict[str, Any], context: Any, run: Callable[..., Any]
) -> None:
    (work / ".vscode").mkdir()
    (work / "innocent").symlink_to(work / ".vscode")
    review = tools["write_file"].review('{"path": "innocent/tasks.json", "content": "{}"}', context)
    assert isinstance(verdict("workspace", review, False, work, ()), Ask)
