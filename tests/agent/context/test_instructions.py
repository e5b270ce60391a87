"""Which AGENTS.md files are read, and what the context says of the machine."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fakes.agent import MODEL, stage
from fakes.provider import says
from pinfold.agent.context.instructions import MAX_BYTES, agents_files, build, environment, nested


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A repository."""
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    return folder


def texts(work: Path) -> list[str]:
    return [file.text for file in agents_files(work, work.parent / "config")]


def test_the_users_rules_come_first_then_from_the_root_down(work: Path) -> None:
    inner = work / "inner"
    for folder in (work.parent / "config", work, inner):
        folder.mkdir(exist_ok=True)
        (folder / "AGENTS.md").write_text(folder.name)
    found = agents_files(inner, work.parent / "config")
    assert [file.text for file in found] == ["config", "work", "inner"]


def test_a_link_out_of_the_repository_is_not_followed(work: Path) -> None:
    (work.parent / "secret").write_text("a private key")
    (work / "AGENTS.md").symlink_to("../secret")
    assert texts(work) == []


def test_a_link_within_the_repository_is_followed(work: Path) -> None:
    (work / "CLAUDE.md").write_text("Use tabs.")
    (work / "AGENTS.md").symlink_to("CLAUDE.md")
    assert texts(work) == ["Use tabs."]


def test_claude_md_is_read_where_there_is_no_agents_md(work: Path) -> None:
    inner = work / "inner"
    inner.mkdir()
    (work / "CLAUDE.md").write_text("Use tabs.")
    (inner / "CLAUDE.md").write_text("Use spaces.")
    assert texts(inner) == ["Use tabs.", "Use spaces."]
    assert [file.text for file in nested(work, [inner])] == ["", "Use spaces."]
    (inner / "AGENTS.md").write_text("Use both.")
    assert texts(inner) == ["Use tabs.", "Use both."]
    assert [file.text for file in nested(work, [inner])] == ["Use both.", ""]


def test_the_users_own_file_may_lie_anywhere(work: Path) -> None:
    config = work.parent / "config"
    config.mkdir()
    (work.parent / "dotfiles.md").write_text("Be brief.")
    (config / "AGENTS.md").symlink_to("../dotfiles.md")
    assert texts(work) == ["Be brief."]


def test_neither_a_pipe_nor_a_ring_of_links_holds_it_up(work: Path) -> None:
    (work / "inner").mkdir()
    os.mkfifo(work / "AGENTS.md")
    (work / "inner" / "AGENTS.md").symlink_to("AGENTS.md")
    assert texts(work / "inner") == []


async def test_a_pipe_in_the_place_of_rules_is_told_once(tmp_path: Path) -> None:
    at = await stage(tmp_path, [says("One."), says("Two.")])
    os.mkfifo(at.session.cwd / "AGENTS.md")
    for prompt in ("first", "second"):
        await at.say(prompt)
    said = f"{at.session.cwd}/AGENTS.md can't be read: it is not a regular file."
    assert [text for text in at.told() if "AGENTS.md" in text] == [said]


def test_a_long_file_is_cut_and_says_so(work: Path) -> None:
    (work / "AGENTS.md").write_text("x" * (MAX_BYTES + 100))
    (text,) = texts(work)
    assert text.endswith(f"x\n[cut after {MAX_BYTES:,} of {MAX_BYTES + 100:,} bytes]")


def test_a_folder_whose_name_is_not_utf_8_has_a_context(work: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(work) + b"/caf\xe9"))
    odd.mkdir()
    (odd / "AGENTS.md").write_text("Use tabs.")
    made = build(odd, work / "config", MODEL, (), datetime(2026, 1, 1, tzinfo=UTC))
    assert "caf\ufffd" in made.context.environment
    assert made.context.agents[0].text == "Use tabs."


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("ref: refs/heads/fix/a\n", "Branch: fix/a\n"),
        (f"{'0123456789abcdef' * 3}"[:40], "Branch: none, at 0123456789ab\n"),
        ("anything else\n", ""),
    ],
)
def test_the_branch_is_read_where_a_worktree_has_it(tmp_path: Path, head: str, said: str) -> None:
    work, git = tmp_path / "work", tmp_path / "main" / ".git" / "worktrees" / "work"
    for folder in (work, git):
        folder.mkdir(parents=True)
    (work / ".git").write_text(f"gitdir: {git}\n")
    (git / "HEAD").write_text(head)
    lines = environment(work, datetime(2026, 1, 2, tzinfo=UTC))
    assert ("Branch: " in lines) == bool(said)
    assert said in lines
