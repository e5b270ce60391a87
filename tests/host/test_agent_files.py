"""Agents that people write as Markdown files."""

from argparse import Namespace
from pathlib import Path

import pytest

from pinfold import paths
from pinfold.agent.children.built_in import BUILT_IN
from pinfold.agent.children.task import schema_of
from pinfold.host.agent_files import MAX_BYTES, MAX_FILES, known_agents
from pinfold.host.app_context import AppContext, app_context
from pinfold.tokens.counter import Counter
from pinfold.trust import trust

TOOLS = ("read_file", "list_dir", "glob", "grep", "edit_file", "shell", "shell_output")
CLAUDE = """\
---
name: code-reviewer
description: Reviews code
tools: Read, Grep, Bash(git log:*), Task
model: sonnet
permissionMode: plan
hooks: {}
---

You review code.
"""


@pytest.fixture
def ctx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppContext:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("PINFOLD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return app_context(Namespace(cd=str(tmp_path / "project")))


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / "agents" / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_says_all_of_an_agent(ctx: AppContext) -> None:
    write(
        paths.config_folder(),
        "any",
        "---\nname: Doc writer\ndescription: >\n  Writes\n  docs\ntools: [read_file, edit_file]\n"
        "model: small-1\napprovals: ask\nworktree: true\n---\nWrite docs.\n---\nAnd more.\n",
    )
    found = known_agents(ctx, TOOLS)
    agent = found.known["doc-writer"]
    assert agent.description == "Writes docs"
    assert agent.tools == ("read_file", "edit_file")
    assert (agent.model, agent.approvals, agent.worktree) == ("small-1", "ask", True)
    assert agent.prompt == "Write docs.\n---\nAnd more."
    assert agent.source.endswith("agents/any.md")
    assert not found.problems


def test_a_file_of_claude_code_means_the_same_here(ctx: AppContext) -> None:
    write(Path.home() / ".claude", "code-reviewer", CLAUDE)
    agent = known_agents(ctx, TOOLS).known["code-reviewer"]
    assert agent.tools == ("read_file", "grep")
    assert (agent.model, agent.approvals) == (None, "read-only")
    assert agent.notes == (
        "`hooks` has no effect in pinfold.",
        "pinfold has no tool for Bash(git log:*), Task.",
    )


def test_a_projects_agents_wait_for_trust_and_replace_none(ctx: AppContext) -> None:
    write(paths.config_folder(), "mine", "---\nname: mine\n---\nMine.")
    write(paths.config_folder(), "review", "---\ndescription: my way\n---\nMy review.")
    for name in ("mine", "explore", "theirs"):
        write(ctx.cwd / ".pinfold", name, "---\ndescription: the project's\n---\nTheirs.")
    assert "theirs" not in known_agents(ctx, TOOLS).known
    trust(ctx.home, ctx.cwd)
    found = known_agents(ctx, TOOLS)
    assert found.known["review"].prompt == "My review."
    assert found.known["theirs"].prompt == "Theirs."
    assert found.known["mine"].prompt == "Mine."
    assert found.known["explore"] == BUILT_IN["explore"]
    own, mine = (problem.partition(" defines no agent: ")[2] for problem in found.problems)
    assert own == "explore is the name of an agent of pinfold already."
    assert mine.startswith("mine is the name of an agent of ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Just text", ":1 defines no agent: it does not begin with front matter"),
        ("---\nname: x\n", ":1 defines no agent: its front matter has no second line of ---"),
        ("---\nname: x\nwhat: a: b\n---\n", ":3 defines no agent: its front matter is not valid"),
        ("---\n- x\n---\n", ":1 defines no agent: its front matter has no `name: value` lines"),
        ("---\n" + "[" * 5_000 + "\n---\n", ":1 defines no agent: its front matter is nested"),
        ("---\nx: &a [1]\ny: *b\n---\n", ":3 defines no agent: its front matter is not valid"),
        ("---\nx: \x07\n---\n", ":1 defines no agent: its front matter is not valid YAML"),
        ("---\nx: " + "y" * 9_000 + "\n---\n", ":1 defines no agent: its front matter has more"),
        ("---\nname: [x]\n---\n", " defines no agent: `name` is not text"),
        ("---\nname: ＊\n---\n", " defines no agent: a name has letters"),
        ("---\ntools: {a: b}\n---\n", " defines no agent: `tools` is not a list of names"),
        ("---\napprovals: root\n---\n", " defines no agent: `approvals` is one of read-only,"),
        ("---\nworktree: maybe\n---\n", " defines no agent: `worktree` is true or false"),
        ("---\n" + "x" * MAX_BYTES, " defines no agent: it can't be read, it has more than"),
    ],
)
def test_a_file_that_defines_none_is_named_with_the_line(
    ctx: AppContext, text: str, said: str
) -> None:
    file = write(paths.config_folder(), "broken", text)
    found = known_agents(ctx, TOOLS)
    (problem,) = found.problems
    assert problem.startswith(f"{paths.shown(file)}{said}")
    assert problem.endswith(".")
    assert "\n" not in problem
    assert found.known == BUILT_IN


def test_a_project_brings_no_file_from_outside_and_not_any_number(ctx: AppContext) -> None:
    trust(ctx.home, ctx.cwd)
    secret = Path.home() / "secret"
    secret.parent.mkdir()
    secret.write_text("---\nname: x\n---\nThe secret.")
    link = write(ctx.cwd / ".claude", "0", "")
    link.unlink()
    link.symlink_to(secret)
    for n in range(1, MAX_FILES + 5):
        write(ctx.cwd / ".claude", f"a{n:03}", "---\ndescription: >\n  " + "long " * 900 + "\n---")
    found = known_agents(ctx, TOOLS)
    assert len(found.known) == len(BUILT_IN) + MAX_FILES - 1
    assert "has 55 agents: only the first 50 are read" in found.problems[0]
    assert found.problems[1].endswith("its link leaves the project.")
    assert "secret" not in str(found.known)
    # What the model is told of them all.
    counter = Counter("none")
    many, few = (schema_of(known.values()).description for known in (found.known, BUILT_IN))
    assert counter.count(many) - counter.count(few) < 1_000
