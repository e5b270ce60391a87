"""Prompts of the user or project: Markdown files that replace pinfold's own."""

from pathlib import Path

from pinfold import paths
from pinfold.compaction import prompts
from pinfold.host.app_context import AppContext
from pinfold.settings import SettingsError
from pinfold.small_files import read_text
from pinfold.trust import is_trusted

FOLDER = "prompts"
MAX_BYTES = 20_000


def overrides(ctx: AppContext) -> dict[str, str]:
    """The prompts by name; a trusted project's before the user's. Raises `SettingsError`."""
    project = paths.project_config(ctx.cwd).parent
    folders = [paths.config_folder()]
    if is_trusted(ctx.home, project.parent):
        folders.append(project)
    found: dict[str, str] = {}
    for folder in folders:
        for name in prompts.names():
            file = folder / FOLDER / f"{name}{prompts.ENDING}"
            if text := _read(file):
                found[name] = text
    return found


def _read(file: Path) -> str:
    """Its text; empty, also without a file, keeps pinfold's."""
    try:
        return read_text(file, MAX_BYTES).strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        why = error.strerror or error
        raise SettingsError(f"{paths.shown(file)} can't be read as a prompt: {why}") from error
