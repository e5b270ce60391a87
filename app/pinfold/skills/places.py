"""The folders that hold skills and commands."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from pinfold import paths
from pinfold.skills.extension import Source

_KINDS = (".pinfold", ".agents", ".claude")


class SkillPlace(Struct, frozen=True):
    """A folder that may hold `skills/` and `commands/`; those that come first win."""

    folder: Path
    source: Source
    root: Path | None = None
    """The project that its links must stay in."""


def places(cwd: Path, env: Mapping[str, str] = os.environ) -> list[SkillPlace]:
    """The user's, then the project's from `cwd` up to the repository's root, then Codex's."""
    found: dict[Path, SkillPlace] = {}
    for place in _all(cwd, env):
        found.setdefault(place.folder, place)
    return list(found.values())


def user_folders(env: Mapping[str, str] = os.environ) -> list[Path]:
    """The user's own."""
    home = Path.home()
    claude = env.get("CLAUDE_CONFIG_DIR")
    return [
        paths.config_folder(),
        home / ".agents",
        Path(claude).expanduser() if claude else home / ".claude",
    ]


def own_skills() -> list[Path]:
    """The user's skill folders that exist, resolved. Blocking."""
    found = [folder / "skills" for folder in user_folders()]
    return [folder.resolve() for folder in found if folder.is_dir()]


def _all(cwd: Path, env: Mapping[str, str]) -> Iterator[SkillPlace]:
    for folder in user_folders(env):
        yield SkillPlace(folder, "user")
    root = paths.repository_root(cwd) or cwd
    inner = [cwd, *cwd.parents]
    for folder in inner[: inner.index(root) + 1]:
        for kind in _KINDS:
            yield SkillPlace(folder / kind, "project", root)
    codex = env.get("CODEX_HOME")
    yield SkillPlace(Path(codex).expanduser() if codex else Path.home() / ".codex", "prompts")
