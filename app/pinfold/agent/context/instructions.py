"""What is before the window: instructions, files of rules, tools, environment."""

import hashlib
import os
import platform
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from importlib.resources import files
from pathlib import Path

import msgspec

from pinfold.paths import repository_root
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.context import AgentsFile, Context, FrontMemories, SkillIndex, ToolSchema
from pinfold.rollout.events import ContextSet
from pinfold.sanitize import one_line
from pinfold.small_files import head

NAMES = ("AGENTS.md", "CLAUDE.md")
"""Of a folder's rules; the first that is there counts."""
MAX_BYTES = 32_768
"""Of one AGENTS.md; the rest is cut and the cut is told to the model."""


def agents_files(cwd: Path, user_folder: Path) -> tuple[AgentsFile, ...]:
    """The user's own rules, then those from the repository's root down to `cwd`."""
    found = []
    for path, root in _places(cwd, user_folder):
        with suppress(OSError, RuntimeError, ValueError):  # a ring of links, a NUL byte
            if text := _text(path, root):
                found.append(AgentsFile(_shown(path), text))
    return tuple(found)


def unread(cwd: Path, user_folder: Path) -> tuple[str, ...]:
    """A sentence for each of these that is there and can't be read: a pipe, a device, no rights."""
    said = []
    for path, root in _places(cwd, user_folder):
        try:
            _text(path, root)
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            said.append(f"{_shown(path)} can't be read: {error.strerror or error}.")
        except (RuntimeError, ValueError):
            said.append(f"{_shown(path)} is not read: its links form a loop.")
    return tuple(said)


def _places(cwd: Path, user_folder: Path) -> Iterator[tuple[Path, Path | None]]:
    """Where the rules may lie, each with the folder that its links must stay in."""
    root = repository_root(cwd) or cwd
    inner = [cwd, *cwd.parents]
    for folder in dict.fromkeys([user_folder, *reversed(inner[: inner.index(root) + 1])]):
        yield _rules(folder), None if folder == user_folder else root


def _rules(folder: Path) -> Path:
    """The file with the rules of a folder; it need not be there."""
    paths = [folder / name for name in NAMES]
    return next((path for path in paths if os.path.lexists(path)), paths[0])


def nested(cwd: Path, folders: Iterable[Path]) -> tuple[AgentsFile, ...]:
    """The files of rules of `folders` below `cwd` and of those between, the upper ones first; one
    that is not there has an empty text."""
    root = repository_root(cwd) or cwd
    within = {
        folder
        for path in folders
        if path.is_relative_to(cwd)
        for folder in (path, *path.parents)
        if folder != cwd and folder.is_relative_to(cwd)
    }
    found = []
    for folder in sorted(within):
        for name in NAMES:
            path, text = folder / name, ""
            if path == _rules(folder):
                with suppress(OSError, RuntimeError, ValueError):
                    text = _text(path, root)
            found.append(AgentsFile(_shown(path), text))
    return tuple(found)


def _text(path: Path, root: Path | None) -> str:
    """A regular file's text; nothing of what is outside of `root`. Raises `OSError`."""
    real = path.resolve()
    # Else a repository could have any file of the user's sent to the model.
    if root and not real.is_relative_to(root.resolve()):
        return ""
    data = head(real, MAX_BYTES + 1)
    text = data[:MAX_BYTES].decode("utf-8", "replace").strip()
    if len(data) > MAX_BYTES:
        text += f"\n[cut after {MAX_BYTES:,} of {real.stat().st_size:,} bytes]"
    return text


def _shown(path: Path) -> str:
    """A path as text that can be encoded, also where its bytes are not UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")


def environment(cwd: Path, now: datetime) -> str:
    """A few lines on the machine. The date alone, so that the text holds for a day."""
    shell = Path(os.environ.get("SHELL", "sh")).name
    root = repository_root(cwd)
    lines = [
        f"Working directory: {_shown(cwd)}",
        f"Repository root: {_shown(root)}" if root else "Not in a git repository",
        *([f"Branch: {branch}"] if root and (branch := _branch(root)) else ()),
        f"System: {platform.system()} {platform.machine()}, shell: {shell}",
        f"Date: {now.astimezone():%Y-%m-%d}",
    ]
    return "\n".join(lines)


def _branch(root: Path) -> str:
    """The branch that is checked out, or the commit where that is none; empty where unknown."""
    git = root / ".git"
    try:
        if git.is_file():  # a worktree or a submodule
            where = head(git, 4096).decode("utf-8", "replace").partition("gitdir:")[2].strip()
            git = root / where
        text = head(git / "HEAD", 4096).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return ""
    if text.startswith("ref: refs/heads/"):
        return one_line(text.removeprefix("ref: refs/heads/"))[:100]
    return f"none, at {text[:12]}" if re.fullmatch("[0-9a-f]{40,64}", text) else ""


def own_instructions(model: ModelInfo) -> str:
    """Our instructions for a model."""
    name = "agent.md" if model.tools else "small.md"
    return (files("pinfold.agent.context") / "prompts" / name).read_text(encoding="utf-8").strip()


def build(
    cwd: Path,
    user_folder: Path,
    model: ModelInfo,
    tools: Iterable[ToolSchema],
    now: datetime,
    memories: FrontMemories | None = None,
    skills: SkillIndex | None = None,
) -> ContextSet:
    """The context for the next turn; the same inputs give the same hash."""
    if model.tools:
        context = Context(
            instructions=own_instructions(model),
            agents=agents_files(cwd, user_folder),
            environment=environment(cwd, now),
            tools=tuple(tools),
            memories=memories,
            skills=skills,
        )
    else:
        context = Context(instructions=own_instructions(model))
    return hashed(context)


def hashed(context: Context) -> ContextSet:
    digest = hashlib.sha256(msgspec.json.encode(context)).hexdigest()[:16]
    return ContextSet(hash=digest, context=context)
