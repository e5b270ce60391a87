"""Agents as Markdown files: front matter says what they may do, the body is their prompt."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pinfold import paths
from pinfold.agent.children.built_in import BUILT_IN
from pinfold.agent.children.definition import Agent
from pinfold.closest import listed
from pinfold.front_matter import FrontMatter, FrontMatterError, read
from pinfold.host.app_context import AppContext
from pinfold.sanitize import one_line
from pinfold.settings import MODES, Mode

FOLDER = "agents"
MAX_PROMPT = 32_768
"""Characters."""
MAX_FILES = 50
"""In a folder."""
MAX_NAME = 40

OWN_TOOLS = ("recall", "memory_apply", "skill")
"""Tools of every session; only `skill` can be withheld."""
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "Read": ("read_file",),
    "LS": ("list_dir",),
    "Glob": ("glob",),
    "Grep": ("grep",),
    "Edit": ("edit_file", "apply_patch"),
    "MultiEdit": ("edit_file", "apply_patch"),
    "Write": ("write_file",),
    "Bash": ("shell", "shell_output", "shell_kill"),
    "BashOutput": ("shell_output",),
    "KillShell": ("shell_kill",),
    "TodoWrite": ("update_plan",),
    "AskUserQuestion": ("ask_user",),
    "WebFetch": ("web_fetch",),
    "WebSearch": ("web_search",),
    "Skill": ("skill",),
}
"""Claude Code's tools, and ours."""
_OTHER_MODELS = frozenset({"", "inherit", "sonnet", "opus", "haiku"})
"""Models in Claude Code's files that mean the session's own."""
_OTHER_MODES: Mapping[str, Mode] = {"plan": "read-only", "default": "ask"}
"""Its permission modes that are narrower than pinfold's default."""
_NO_EFFECT = ("hooks", "mcpServers", "skills")
"""Keys of Claude Code's files that have no effect here and get a note."""


@dataclass(frozen=True, slots=True)
class AgentFiles:
    known: Mapping[str, Agent]
    problems: tuple[str, ...]
    """Sentences: on files that define no agent, and on agents that wait for trust."""


def known_agents(ctx: AppContext, tools: Collection[str]) -> AgentFiles:
    """The agents of pinfold, the user, and a project that the user trusts. Blocking.

    The user's replace pinfold's of the same name; a project's replace none. `tools` are names.
    """
    known = dict(BUILT_IN)
    problems: list[str] = []
    for folder, root in _folders(ctx):
        for file in _files(folder, problems):
            try:
                agent = _read(file, root, tools)
            except FrontMatterError as error:
                problems.append(str(error))
                continue
            other = known.get(agent.name)
            if other is not None and (root or other.source):
                whose = other.source or "pinfold"
                problems.append(
                    f"{agent.source} is left out: {agent.name} is the name of an agent of {whose}."
                )
                continue
            known[agent.name] = agent
    if not ctx.trusted:
        problems += _waiting(ctx)
    return AgentFiles(known, tuple(problems))


def _waiting(ctx: AppContext) -> Iterator[str]:
    """A sentence on each project folder whose agents wait for trust."""
    for folder in _projects(ctx):
        if count := len(_files(folder, [])):
            agents = "1 agent" if count == 1 else f"{count} agents"
            yield f"{_shown(folder)} has {agents}: /trust makes them available."


def _folders(ctx: AppContext) -> Iterator[tuple[Path, Path | None]]:
    """Folders of agents, the most important first, each with the folder that links must stay in."""
    yield paths.config_folder() / FOLDER, None
    yield _of_claude(), None
    if ctx.trusted:
        for folder in _projects(ctx):
            yield folder, folder.parent.parent


def _projects(ctx: AppContext) -> Iterator[Path]:
    """The folders of the project."""
    project = paths.project_config(ctx.cwd).parent
    yield project / FOLDER
    if (other := project.with_name(".claude") / FOLDER) != _of_claude():
        yield other


def _of_claude() -> Path:
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / FOLDER


def _files(folder: Path, problems: list[str]) -> list[Path]:
    try:
        names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".md"))
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the name
        return []
    except OSError as error:
        problems.append(f"{_shown(folder)} can't be read: {error.strerror or error}.")
        return []
    if len(names) > MAX_FILES:
        problems.append(
            f"{_shown(folder)} has {len(names):,} agents: only the first {MAX_FILES} are read."
        )
    return [folder / name for name in names[:MAX_FILES]]


def _read(file: Path, root: Path | None, tools: Collection[str]) -> Agent:
    """Raises `FrontMatterError`."""
    try:
        real = file.resolve()
    except (OSError, RuntimeError) as error:
        raise FrontMatterError(f"{_shown(file)} can't be read: its links form a loop.") from error
    # Otherwise a repository could send any file of the user's to the model.
    if root is not None and not real.is_relative_to(root.resolve()):
        raise FrontMatterError(f"{_shown(file)} can't be read: its link leaves the project.")
    found = read(real)
    if not found.values:
        raise found.error("an agent begins with front matter, between two lines of “---”")
    if len(found.body) > MAX_PROMPT:
        raise found.error(f"the prompt has more than {MAX_PROMPT:,} characters")
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", found.text("name") or file.stem).strip("-_").lower()
    if not name:
        raise found.error("a name has letters, digits, “-” and “_”", "name")
    notes = list(found.notes)
    notes += [f"`{key}` has no effect in pinfold." for key in _NO_EFFECT if key in found.values]
    model = found.text("model")
    return Agent(
        name=name[:MAX_NAME],
        description=found.text("description"),
        prompt=found.body,
        tools=_tools(found, tools, notes),
        model=None if model in _OTHER_MODELS else model,
        approvals=_approvals(found, notes),
        worktree=found.flag("worktree") or found.text("isolation") == "worktree",
        source=_shown(file),
        notes=tuple(notes),
    )


def _tools(found: FrontMatter, there: Collection[str], notes: list[str]) -> tuple[str, ...] | None:
    """The tools of `there` that the file names, in either spelling; None: all."""
    named = found.words("tools")
    every = not named or named in (("*",), ("all",))
    allowed = list(there) if every else _ours(named, there, notes)
    denied = _ours(found.words("disallowedTools"), there, notes)
    return None if every and not denied else tuple(name for name in allowed if name not in denied)


def _ours(names: Iterable[str], there: Collection[str], notes: list[str]) -> list[str]:
    ours: dict[str, None] = {}
    unknown: list[str] = []
    for name in names:
        also = [one for one in _OTHER_NAMES.get(name, (name,)) if one in there]
        ours |= dict.fromkeys(also)
        unknown += [] if also else [name]
    if unknown:
        # `Bash(git *)` among them: the whole shell would be more than that.
        notes.append(f"pinfold has no tool for {listed(unknown)}.")
    return list(ours)


def _approvals(found: FrontMatter, notes: list[str]) -> Mode:
    given = found.text("approvals")
    for mode in MODES:
        if given == mode:
            return mode
    if given:
        raise found.error(f"“approvals” must be one of {', '.join(MODES)}", "approvals")
    permission = found.text("permissionMode")
    if permission and permission not in _OTHER_MODES:
        notes.append("`permissionMode` has no effect in pinfold.")
    return _OTHER_MODES.get(permission, "full")


def _shown(path: Path) -> str:
    return one_line(paths.shown(path))
