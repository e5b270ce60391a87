"""Agents that people write as Markdown files."""

from pathlib import Path

import pytest

from pinfold import paths
from pinfold.agent.children.built_in import BUILT_IN
from pinfold.agent.children.task import schema_of
from pinfold.host.agent_files import MAX_FILES, MAX_PROMPT, known_agents
from pinfold.host.app_context import AppContext
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
    waiting = known_agents(ctx, TOOLS)
    assert "theirs" not in waiting.known
    assert waiting.problems[0].endswith("has 3 agents: /trust makes them available.")
    trust(ctx.home, ctx.cwd)
    found = known_agents(ctx, TOOLS)
    assert found.known["review"].prompt == "My review."
    assert found.known["theirs"].prompt == "Theirs."
    assert found.known["mine"].prompt == "Mine."
    assert found.known["explore"] == BUILT_IN["explore"]
    own, mine = (problem.partition(" is left out: ")[2] for problem in found.problems)
    assert own == "explore is the name of an agent of pinfold."
    assert mine.startswith("mine is the name of an agent of ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Just text", ", line 1: an agent begins with front matter"),
        ("---\nname: x\n", ", line 1: the front matter has no closing line"),
        ("---\nx: 1\nname: [x]\n---\n", ", line 3: “name” must be text"),
        ("---\nname: ＊\n---\n", ", line 2: a name has letters"),
        ("---\ntools: {a: b}\n---\n", ", line 2: “tools” must be"),
        ("---\napprovals: root\n---\n", ", line 2: “approvals” must be one of read-only,"),
        ("---\nx: 1\nworktree: maybe\n---\n", ", line 3: “worktree” must be true or false"),
        ("---\nx: 1\n---\n" + "y" * MAX_PROMPT + "y", ", line 1: the prompt has more than"),
    ],
)
def test_a_file_that_defines_none_is_named_with_the_line(
    ctx: AppContext, text: str, said: str
) -> None:
    file = write(paths.config_folder(), "broken", text)
    found = known_agents(ctx, TOOLS)
    (problem,) = found.problems
    assert problem.startswith(f"{paths.shown(file)}{said}")
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
