"""A Git repository."""

import subprocess
from pathlib import Path


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def commit_all(folder: Path) -> None:
    """Make a repository of `folder`, with all that is in it as its first commit on `main`."""
    git(folder, "init", "-q", "-b", "main")
    for key, value in (("user.email", "a@example.org"), ("user.name", "A")):
        git(folder, "config", key, value)
    git(folder, "config", "commit.gpgsign", "false")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
