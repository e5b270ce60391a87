"""The branch that is checked out, read from git's own files."""

from pathlib import Path

from pinfold.paths import repository_root


def current(folder: Path) -> str:
    """Its name, or the first digits of a detached head; nothing outside a repository."""
    root = repository_root(folder)
    if root is None:
        return ""
    try:
        git = root / ".git"
        if git.is_file():  # a worktree or a submodule
            git = root / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
