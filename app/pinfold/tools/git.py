"""Git, run by pinfold itself: nothing that a repository's own configuration names is started."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pinfold.ports.tool import ToolError
from pinfold.sanitize import one_line
from pinfold.tools.process import output_of

_SAFE = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.quotePath", "false"),
)
"""Git's settings that keep the repository's own from running a program."""
_PROGRAMS = (
    *("config", "--includes", "--show-scope", "--name-only", "-z"),
    *("--get-regexp", r"^(filter|hook)\."),
)
_OWN = ("local", "worktree")
"""Scopes of the repository's own configuration."""
MAX_OUTPUT = 1_000_000
"""Bytes that are read."""


def safe_env(more: Sequence[tuple[str, str]] = ()) -> Mapping[str, str]:
    """The environment in which git runs no hook and no monitor; `more` are further settings."""
    settings = (*_SAFE, *more)
    env = {
        **os.environ,
        "GIT_OPTIONAL_LOCKS": "0",
        # A missing object would be fetched by the command that the repository names for it.
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_CONFIG_COUNT": str(len(settings)),
    }
    for at, (key, value) in enumerate(settings):
        env |= {f"GIT_CONFIG_KEY_{at}": key, f"GIT_CONFIG_VALUE_{at}": value}
    return env


async def git(folder: Path, *words: str, settings: Sequence[tuple[str, str]] = ()) -> str:
    """What `git WORDS` prints in `folder`. Raises `ToolError` where it fails."""
    return (await git_bytes(folder, *words, settings=settings)).decode(errors="replace")


async def git_bytes(
    folder: Path,
    *words: str,
    settings: Sequence[tuple[str, str]] = (),
    env: Mapping[str, str] | None = None,
    most: int = MAX_OUTPUT,
) -> bytes:
    """The output as bytes, at most `most`; `env` has further variables."""
    variables = {**safe_env(settings), **(env or {})}
    code, printed = await output_of(["git", *words], folder, most, env=variables)
    if code:
        said = printed.decode(errors="replace").strip().removeprefix("fatal: ")
        raise ToolError(one_line(said) or f"git ended with {code}")
    return printed


async def no_filters(folder: Path) -> list[tuple[str, str]]:
    """Settings that keep the filters and hooks of the repository's own configuration from running.

    The user's, such as those of Git LFS, stay. Raises `ToolError`.
    """
    try:
        listed = (await git(folder, *_PROGRAMS)).split("\0")
    except ToolError:  # it has none
        return []
    names = [name for scope, name in zip(listed[::2], listed[1::2], strict=False) if scope in _OWN]
    return [_without(name) for name in dict.fromkeys(names)]


def _without(name: str) -> tuple[str, str]:
    if name.startswith("hook."):
        return f"{name.rpartition('.')[0]}.enabled", "false"
    return name, "false" if name.endswith(".required") else ""
