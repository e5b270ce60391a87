"""Git worktrees to work in: beside the repository, each on its own branch."""

import re
from dataclasses import dataclass
from pathlib import Path

from pinfold import paths
from pinfold.host.app_context import WrongUse
from pinfold.ports.tool import ToolError
from pinfold.tools.git import git, no_filters

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
MAX_NAME = 64


@dataclass(frozen=True, slots=True)
class Worktree:
    name: str
    path: Path
    changed: int
    """Files with uncommitted changes, untracked ones included."""


async def use(folder: Path, name: str) -> tuple[Path, str]:
    """Use the worktree of that name, made if it is missing. Returns the folder to work in, and a
    sentence on what was done. Raises `WrongUse`."""
    root = await main_tree(folder)
    path = path_beside(root, name)
    branch = f"pinfold/{name}"
    try:
        inside = (await git(folder, "rev-parse", "--show-prefix")).rstrip("\n")
        if path in await _registered(root) and path.is_dir():
            return _inside(path, inside), f"Worktree {name}: {paths.shown(path)}."
        await git(root, "worktree", "prune")
        known = await git(root, "branch", "--list", "--format=%(refname:short)", branch)
        new = [] if known.strip() else ["-b", branch]
        start = [branch] if known.strip() else ["HEAD"]
        filters = await no_filters(root)
        await git(root, "worktree", "add", *new, "--", str(path), *start, settings=filters)
    except ToolError as error:
        raise WrongUse(f"The worktree {name} was not made: {error}") from error
    return _inside(path, inside), f"New worktree {name}: {paths.shown(path)}, branch {branch}."


async def worktrees(folder: Path) -> list[Worktree]:
    """Those that `use` has made for the repository of `folder`. Raises `WrongUse`."""
    root = await main_tree(folder)
    return [
        Worktree(path.name, path, await _changed(path))
        for path in await _registered(root)
        if path.parent == _beside(root) and path.is_dir()
    ]


async def remove(folder: Path, name: str) -> str:
    """Remove a worktree without uncommitted changes; returns a sentence on what was done.

    A branch that is not merged stays. Raises `WrongUse`.
    """
    root = await main_tree(folder)
    path = path_beside(root, name)
    if path not in await _registered(root):
        raise WrongUse(f"There is no worktree {name}: `pinfold worktree list` lists them.")
    if folder.is_relative_to(path):
        raise WrongUse("You are in this worktree: leave it first.")
    if path.is_dir() and (changed := await _changed(path)):
        files = f"{changed} file{'s' if changed != 1 else ''}"
        raise WrongUse(f"The worktree {name} has uncommitted changes in {files}: it stays.")
    try:
        filters = await no_filters(root)
        await git(root, "worktree", "remove", "--", str(path), settings=filters)
    except ToolError as error:
        raise WrongUse(f"The worktree {name} stays: {error}") from error
    try:
        await git(root, "branch", "-d", "--", f"pinfold/{name}")
    except ToolError:
        return f"Removed {paths.shown(path)}. Its branch pinfold/{name} is not merged and stays."
    return f"Removed {paths.shown(path)} and its branch, which was merged."


async def main_tree(folder: Path) -> Path:
    """The main working tree of the repository. Raises `WrongUse`."""
    try:
        common = await git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")
        await git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    except ToolError as error:
        raise WrongUse(
            f"A worktree needs a Git repository with a commit: {paths.shown(folder)} has none."
        ) from error
    git_folder = Path(common.rstrip("\n"))
    if git_folder.name != ".git":
        raise WrongUse(f"{paths.shown(git_folder)} is no .git folder beside a working tree.")
    return git_folder.parent


def _beside(root: Path) -> Path:
    return root.with_name(f"{root.name}.worktrees")


def path_beside(root: Path, name: str) -> Path:
    """Where the worktree, or copy, of that name is or would be. Raises `WrongUse`."""
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME or name.endswith(".lock"):
        raise WrongUse(
            "A worktree's name has letters, digits, `-`, `_` and dots between them, "
            f"at most {MAX_NAME} characters."
        )
    return _beside(root) / name


def _inside(path: Path, inside: str) -> Path:
    """The same folder in the worktree, where that is there."""
    return path / inside if (path / inside).is_dir() else path


async def _registered(root: Path) -> list[Path]:
    listed = await git(root, "worktree", "list", "--porcelain", "-z")
    lines = (line.partition(" ") for line in listed.split("\0"))
    return [Path(value) for key, _, value in lines if key == "worktree"]


async def _changed(path: Path) -> int:
    filters = await no_filters(path)
    words = [
        *("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"),
        "--ignore-submodules=dirty",  # else what their configurations name would run
    ]
    listed = await git(path, *words, settings=filters)
    return len([line for line in listed.split("\0") if line])
