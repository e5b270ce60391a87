"""What every command starts from: folders, settings, the store."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from pinfold import paths
from pinfold.settings import Settings, SettingsError
from pinfold.settings_load import Loaded, load
from pinfold.trust import is_trusted

if TYPE_CHECKING:
    import argparse

    from pinfold.rollout.store import SessionStore


class WrongUse(Exception):
    """The command line is wrong; `str()` says what it should be."""


class AppContext(Struct, frozen=True):
    """Folders and settings that sessions are made from."""

    loaded: Loaded
    cwd: Path
    home: Path
    sessions: Path
    """The folder that holds them: the home, or a replay's own."""
    flags: Mapping[str, Any]
    """Settings from the command line, as dotted keys."""
    added: tuple[str, ...] = ()
    """Further folders to write to, from the command line."""

    @property
    def trusted(self) -> bool:
        """Whether the user trusts the folder. Blocking."""
        return _trusted(self.cwd, self.home)

    @property
    def settings(self) -> Settings:
        return self.loaded.settings

    @property
    def store(self) -> "SessionStore":
        from pinfold.rollout.store import SessionStore

        return SessionStore(self.sessions)

    def in_folder(self, cwd: Path) -> "AppContext":
        """The same for a session in another folder, with that folder's settings.

        Raises `SettingsError`.
        """
        return replace(self, cwd=cwd, loaded=_load(cwd, self.home, self.flags))


def config_files(cwd: Path) -> tuple[Path, Path]:
    """The user's config file and the project's, whether they exist or not."""
    return paths.config_folder() / "config.toml", paths.project_config(cwd)


def app_context(
    arguments: "argparse.Namespace | None" = None, *, even_if_broken: bool = False
) -> AppContext:
    """Read the settings for this command line; None is the bare `pinfold`.

    Raises `WrongUse`, and `SettingsError` unless `even_if_broken`: then the settings are the
    defaults, and the error is their warning.
    """
    given = Path(getattr(arguments, "cd", "."))
    try:
        cwd = given.expanduser().resolve()
    except RuntimeError as error:  # no such user, or a ring of links
        raise WrongUse(f"{given} is not a folder: {error}") from error
    if not cwd.is_dir():
        raise WrongUse(f"{cwd} is not a folder")
    try:
        home = paths.home()
    except RuntimeError as error:
        raise SettingsError(f"PINFOLD_HOME is not a folder: {error}") from error
    flags = _flags(arguments)
    try:
        loaded = _load(cwd, home, flags)
    except SettingsError as error:
        if not even_if_broken:
            raise
        loaded = Loaded(Settings(), {}, (), (str(error),))
    added = tuple(getattr(arguments, "add_dir", None) or ())
    return AppContext(loaded, cwd, home, home, flags, added)


def _trusted(cwd: Path, home: Path) -> bool:
    return is_trusted(home, paths.project_config(cwd).parent.parent)


def _load(cwd: Path, home: Path, flags: Mapping[str, Any]) -> Loaded:
    user_file, project_file = config_files(cwd)
    return load(
        env=os.environ,
        user_file=user_file,
        project_file=project_file,
        trusted=_trusted(cwd, home),
        flags=flags,
    )


def _flags(arguments: "argparse.Namespace | None") -> dict[str, Any]:
    flags: dict[str, Any] = {
        "model.name": getattr(arguments, "model", None),
        "model.provider": getattr(arguments, "provider", None),
        "approvals.mode": getattr(arguments, "approvals", None),
        "agent.max_steps": getattr(arguments, "max_turns", None),
        "agent.max_cost": getattr(arguments, "max_cost", None),
    }
    for pair in getattr(arguments, "config", None) or ():
        key, equals, value = pair.partition("=")
        is_section = key in Settings.__struct_fields__  # then the check names the key meant
        if not equals or not ("." in key or is_section):
            raise WrongUse(
                f"-c (--config) takes SECTION.KEY=VALUE, not {pair!r}; "
                "to continue a session, write --continue"
            )
        flags[key] = value
    return flags
