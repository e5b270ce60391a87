"""Where pinfold's files are."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import platformdirs


def home(env: Mapping[str, str] = os.environ) -> Path:
    """`$PINFOLD_HOME`, else the platform's data folder."""
    given = env.get("PINFOLD_HOME")
    return Path(given).expanduser() if given else platformdirs.user_data_path("pinfold")


def config_folder() -> Path:
    """The user's config folder: `config.toml`, `AGENTS.md`, `themes/`."""
    return platformdirs.user_config_path("pinfold")


def cache_folder() -> Path:
    """Files that can be deleted at any time."""
    return platformdirs.user_cache_path("pinfold")


def catalog(home: Path) -> Path:
    """The index of the sessions in `home`: in the cache, or in a `home` that is not the default."""
    usual = home == platformdirs.user_data_path("pinfold")
    return (cache_folder() if usual else home / "cache") / "catalog.db"


def repository_root(folder: Path) -> Path | None:
    """The nearest folder upwards that holds `.git`."""
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    return None


def project_config(folder: Path) -> Path:
    """The project's own config file, at the repository's root."""
    return (repository_root(folder) or folder) / ".pinfold" / "config.toml"


def shown(path: Path) -> str:
    """A path for people: `~` for the home folder."""
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(path)


def program() -> str:
    """What to type to start pinfold again."""
    path = Path(sys.argv[0])
    if path.name != "pinfold" or path.parent in map(Path, os.get_exec_path()):
        return "pinfold"
    try:
        near = path.absolute().relative_to(Path.cwd())
    except (ValueError, OSError):  # elsewhere, or the current folder is gone
        return shown(path)
    return str(near) if near.parent.name else f"./{near}"


def typed(text: str, folder: Path | None = None) -> Path:
    """The path that a user wrote, relative to `folder` or the current one; links are kept."""
    expanded = os.path.expanduser(text)  # noqa: PTH111  that of Path raises
    return Path(os.path.abspath((folder or Path()) / expanded))  # noqa: PTH100


def is_session_file(text: str) -> bool:
    """Whether the text names a file, or could, and is not a prompt: a prompt has spaces."""
    if len(text.split()) > 1 and not text.endswith((".json", ".jsonl")):
        return os.path.lexists(typed(text))
    return is_file_name(text)


def is_file_name(text: str, folder: Path | None = None) -> bool:
    """Whether a word names a file, or could; commands and ids have no dot or slash."""
    return "." in text or os.sep in text or os.path.lexists(typed(text, folder))
