"""What every command starts from: folder, settings, store."""

import argparse
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pinfold import paths
from pinfold.rollout.store import SessionStore
from pinfold.settings import Loaded, Settings, load
from pinfold.trust import is_trusted


class WrongUse(Exception):
    """The command line asks for something that makes no sense."""


@dataclass(frozen=True, slots=True)
class House:
    """The ground that sessions stand on."""

    loaded: Loaded
    cwd: Path
    home: Path
    store: SessionStore

    @property
    def settings(self) -> Settings:
        return self.loaded.settings

    def at(self, cwd: Path) -> "House":
        """The same for a session that works in another folder."""
        return replace(self, cwd=cwd)


def config_files(cwd: Path) -> tuple[Path, Path]:
    """The user's config file and the project's; either may not exist."""
    return paths.config_folder() / "config.toml", paths.project_config(cwd)


def house(arguments: argparse.Namespace) -> House:
    """Read the settings for this command line. Raises `SettingsError`, `WrongUse`."""
    cwd = Path(getattr(arguments, "cd", ".")).expanduser().resolve()
    if not cwd.is_dir():
        raise WrongUse(f"{cwd} is not a folder")
    home = paths.home()
    user_file, project_file = config_files(cwd)
    loaded = load(
        env=os.environ,
        user_file=user_file,
        project_file=project_file,
        trusted=is_trusted(home, project_file.parent.parent),
        flags=_flags(arguments),
    )
    return House(loaded, cwd, home, SessionStore(home))


def _flags(arguments: argparse.Namespace) -> dict[str, Any]:
    flags: dict[str, Any] = {
        "model.name": getattr(arguments, "model", None),
        "model.provider": getattr(arguments, "provider", None),
        "approvals.mode": getattr(arguments, "approvals", None),
    }
    for pair in getattr(arguments, "config", None) or ():
        key, equals, value = pair.partition("=")
        if not equals or "." not in key:
            raise WrongUse(f"--config takes SECTION.KEY=VALUE, not {pair!r}")
        flags[key] = value
    return flags
