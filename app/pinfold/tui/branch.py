"""The branch that is checked out, read from git's own files."""

from pathlib import Path

from pinfold.paths import repository_root
from pinfold.small_files import read_text

MAX_BYTES = 4_096


def current(folder: Path) -> str:
    """Its name, or the first digits of a detached head; nothing outside a repository."""
    root = repository_root(folder)
    if root is None:
        return ""
    try:
        git = root / ".git"
        if git.is_file():  # a worktree or a submodule
            git = root / read_text(git, MAX_BYTES).removeprefix("gitdir:").strip()
        head = read_text(git / "HEAD", MAX_BYTES).strip()
    except (OSError, ValueError):  # a NUL in the name of a folder is a ValueError
        return ""
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
