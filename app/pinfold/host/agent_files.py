"""Agents as Markdown files: front matter says what they may do, the body is their prompt."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pinfold import paths
from pinfold.agent.children.built_in import BUILT_IN
from pinfold.agent.children.definition import Agent
from pinfold.closest import listed, shown
from pinfold.host.app_context import AppContext
from pinfold.sanitize import one_line
from pinfold.settings import MODES, Mode
from pinfold.small_files import read_text

FOLDER = "agents"
MAX_BYTES = 65_536
"""Of a file."""
MAX_FRONT = 8_192
"""Characters of its front matter: YAML is read slowly."""
MAX_FILES = 50
"""Of a folder."""
MAX_NAME = 40

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
}
"""Claude Code's tools, with ours."""
_OTHER_MODELS = frozenset({"inherit", "sonnet", "opus", "haiku"})
"""What Claude Code's files say for a model."""
_OTHER_MODES: Mapping[str, Mode] = {"plan": "read-only", "default": "ask"}
"""Its permission modes that ask for less than pinfold would give."""
_NO_EFFECT = ("hooks", "mcpServers", "skills", "permissionMode")
"""Keys of Claude Code's files that a reader would count on."""


@dataclass(frozen=True, slots=True)
class Found:
    known: Mapping[str, Agent]
    problems: tuple[str, ...]
    """Why a file defines no agent, in a sentence each."""


class _NoAgent(Exception):
    """Why a file defines none: `line` is where, 0 is the file as a whole."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(why)
        self.line = line


def known_agents(ctx: AppContext, tools: Collection[str]) -> Found:
    """pinfold's own agents, the user's, and those of a project that the user trusts. Blocking.

    The user's replace pinfold's own of the same name; a project's replace none. `tools` are the
    names of those that there are.
    """
    known = dict(BUILT_IN)
    problems: list[str] = []
    for folder, root in _folders(ctx):
        for file in _files(folder, problems):
            try:
                agent = _read(file, root, tools)
                other = known.get(agent.name)
                if other is not None and (root or other.source):
                    whose = other.source or "pinfold"
                    raise _NoAgent(f"{agent.name} is the name of an agent of {whose} already")
                known[agent.name] = agent
            except _NoAgent as error:
                line = f":{error.line}" if error.line else ""
                problems.append(f"{_shown(file)}{line} defines no agent: {error}.")
    return Found(known, tuple(problems))


def _folders(ctx: AppContext) -> Iterator[tuple[Path, Path | None]]:
    """Where agents are defined, each folder with the one that its links must stay in; those that
    win come first."""
    users = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / FOLDER
    yield paths.config_folder() / FOLDER, None
    yield users, None
    if ctx.trusted:
        project = paths.project_config(ctx.cwd).parent
        yield project / FOLDER, project.parent
        if (other := project.with_name(".claude") / FOLDER) != users:
            yield other, project.parent


def _files(folder: Path, problems: list[str]) -> list[Path]:
    try:
        names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".md"))
    except (FileNotFoundError, NotADirectoryError):
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
    """Raises `_NoAgent`."""
    try:
        real = file.resolve()
        # Else a repository could have any file of the user's sent to the model.
        if root is not None and not real.is_relative_to(root.resolve()):
            raise _NoAgent("its link leaves the project")
        text = read_text(real, MAX_BYTES)
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its links form a loop"
        raise _NoAgent(f"it can't be read, {why}") from error
    front, body = _split(text.removeprefix("\ufeff"))
    return replace(_agent(file, front, tools), prompt=body, source=_shown(file))


def _split(text: str) -> tuple[dict[str, Any], str]:
    """The front matter, its scalars as text, and the body. Raises `_NoAgent`."""
    from frontmatter.default_handlers import YAMLHandler
    from yaml import BaseLoader, MarkedYAMLError, YAMLError

    handler = YAMLHandler()
    assert handler.FM_BOUNDARY is not None
    opening = handler.FM_BOUNDARY.match(text)
    if opening is None:
        raise _NoAgent("it does not begin with front matter, a block between two lines of ---", 1)
    try:
        front, body = handler.split(text)
    except ValueError as error:
        raise _NoAgent("its front matter has no second line of ---", 1) from error
    if len(front) > MAX_FRONT:
        raise _NoAgent(f"its front matter has more than {MAX_FRONT:,} characters", 1)
    before = 1 + text[: opening.end()].count("\n")
    try:
        found = handler.load(front, Loader=BaseLoader)
    except RecursionError as error:
        raise _NoAgent("its front matter is nested too deeply", 1) from error
    except MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        why = one_line(error.problem or error.context or "it can't be read")[:200]
        line = before + at.line if at else 1
        raise _NoAgent(f"its front matter is not valid YAML, {why}", line) from error
    except (YAMLError, ValueError) as error:
        raise _NoAgent("its front matter is not valid YAML", 1) from error
    if not isinstance(found, dict):
        raise _NoAgent("its front matter has no `name: value` lines", before)
    return found, body.strip()


def _agent(file: Path, front: Mapping[str, Any], tools: Collection[str]) -> Agent:
    """What the front matter says. Raises `_NoAgent`."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", _text(front, "name") or file.stem).strip("-_").lower()
    if not name:
        raise _NoAgent("a name has letters, digits, - and _")
    notes = [f"`{key}` has no effect in pinfold." for key in _NO_EFFECT if key in front]
    model: str | None = _text(front, "model")
    if model in _OTHER_MODELS:
        model = None
    return Agent(
        name=name[:MAX_NAME],
        description=one_line(_text(front, "description")).strip(),
        tools=_allowed(front, tools, notes),
        model=model or None,
        approvals=_approvals(front, notes),
        worktree=_worktree(front),
        notes=tuple(notes),
    )


def _text(front: Mapping[str, Any], key: str) -> str:
    value = front.get(key, "")
    if not isinstance(value, str):
        raise _NoAgent(f"`{key}` is not text")
    return value


def _allowed(
    front: Mapping[str, Any], there: Collection[str], notes: list[str]
) -> tuple[str, ...] | None:
    allowed = _tools(front.get("tools"), there, notes)
    denied = _tools(front.get("disallowedTools", []), there, notes)
    if denied == ():
        return allowed
    every = there if allowed is None else allowed
    return tuple(name for name in every if denied is not None and name not in denied)


def _tools(given: Any, there: Collection[str], notes: list[str]) -> tuple[str, ...] | None:
    """Those of `there` that the file names, in either spelling; all where it names none."""
    match given:
        case None | "" | "*" | "all":
            return None
        case str():
            names = re.findall(r"[^\s,(]+(?:\([^)]*\))?", given)
        case [*names] if all(isinstance(name, str) for name in names):
            pass
        case _:
            raise _NoAgent("`tools` is not a list of names")
    ours: dict[str, None] = {}
    unknown: list[str] = []
    for name in names:
        also = [one for one in _OTHER_NAMES.get(name, (name,)) if one in there]
        ours |= dict.fromkeys(also)
        unknown += [] if also else [name]
    if unknown:
        # `Bash(git *)` among them: the whole shell would be more than that.
        notes.append(f"pinfold has no tool for {listed(unknown)}.")
    return tuple(ours)


def _approvals(front: Mapping[str, Any], notes: list[str]) -> Mode:
    given = _text(front, "approvals")
    if given and given not in MODES:
        raise _NoAgent(f"`approvals` is one of {', '.join(MODES)}, not {shown(given)}")
    if given:
        return given
    mode = _OTHER_MODES.get(_text(front, "permissionMode"))
    if mode is None:
        return "full"
    notes.remove("`permissionMode` has no effect in pinfold.")
    return mode


def _worktree(front: Mapping[str, Any]) -> bool:
    given = _text(front, "worktree").lower()
    if given not in ("", "true", "false", "yes", "no"):
        raise _NoAgent(f"`worktree` is true or false, not {shown(given)}")
    return given in ("true", "yes") or _text(front, "isolation") == "worktree"


def _shown(path: Path) -> str:
    return one_line(paths.shown(path))
