"""The agents that document a hook that runs after a compaction."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from pinfold.closest import shown

_PATIENCE = 20
"""Seconds for an agent to say its version."""
_VERSION = re.compile(r"\d+\.\d+\.\d+")


class HookRefused(Exception):
    """A hook can't be installed or removed; `str()` is a plain sentence."""


class OtherAgent(Struct, frozen=True):
    """An agent that runs a `SessionStart` hook with the source `compact`."""

    name: str
    title: str
    first: tuple[int, int, int]
    """The first version that documents the hook."""
    variable: str
    """The environment variable that names its settings folder."""
    folder: str
    """The settings folder in the user's home (without the variable) and in a project."""
    file: str

    def settings_folder(self, project: Path | None, env: Mapping[str, str] = os.environ) -> Path:
        """The project's settings folder, or the user's."""
        if project is not None:
            return project / self.folder
        given = env.get(self.variable)
        return Path(os.path.expanduser(given)) if given else Path.home() / self.folder  # noqa: PTH111


AGENTS = (
    OtherAgent(
        "claude", "Claude Code", (1, 0, 62), "CLAUDE_CONFIG_DIR", ".claude", "settings.json"
    ),
    OtherAgent("codex", "Codex", (0, 133, 0), "CODEX_HOME", ".codex", "hooks.json"),
)


def agent_of(name: str) -> OtherAgent:
    """Raises `HookRefused` for an agent without such a hook."""
    found = next((agent for agent in AGENTS if agent.name == name.lower()), None)
    if found is None:
        raise HookRefused(
            f"{shown(name)} documents no hook that runs after a compaction, as far as pinfold "
            "knows; claude and codex do."
        )
    return found


def check_version(agent: OtherAgent) -> str:
    """The version of the agent here. Raises `HookRefused` if it documents no such hook."""
    version = installed(agent)
    if version is None:
        raise HookRefused(f"{agent.title} was not found: there is no `{agent.name}` on your PATH.")
    if version < agent.first:
        raise HookRefused(
            f"{agent.title} {dotted(version)} documents no hook that runs after a compaction; "
            f"{dotted(agent.first)} is the first that does."
        )
    return dotted(version)


def installed(agent: OtherAgent) -> tuple[int, ...] | None:
    """The version of the agent on the PATH; None if it does not run."""
    try:
        done = subprocess.run(
            [agent.name, "--version"],
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(done.stdout.decode(errors="replace"))
    return tuple(int(part) for part in found[0].split(".")) if found else None


def dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
