"""The sandbox of a session, from the settings and what works on this machine."""

from pathlib import Path

from pinfold import paths
from pinfold.host.app_context import AppContext
from pinfold.ports.tool import Sandbox
from pinfold.settings import SettingsError
from pinfold.skills.places import own_skills

OFF = "switched off by [sandbox] enabled"
NO_GROUND = "the working directory is the whole file system"


def sandbox_of(ctx: AppContext, folder: Path) -> tuple[Sandbox | None, str]:
    """The sandbox of the session in `folder`, or why it has none. Blocking.

    Raises `SettingsError`.
    """
    from pinfold.tools.sandbox.confine import find

    settings = ctx.settings.sandbox
    roots = (ctx.cwd, *(_folder(name, ctx.cwd) for name in (*settings.writable, *ctx.added)))
    if not settings.enabled:
        return None, OFF
    if Path("/") in roots:
        return None, NO_GROUND
    found = find()
    if found.kind is None:
        return None, found.text
    sandbox = Sandbox(
        found.kind,
        tuple(dict.fromkeys(roots)),
        folder / "sandbox",
        network=settings.network,
        hidden=(ctx.home, paths.config_folder()),
        readable=(folder / "outputs", *own_skills()),
    )
    return sandbox, ""


def _folder(name: str, cwd: Path) -> Path:
    path = paths.typed(name, cwd).resolve()
    if not path.is_dir():
        raise SettingsError(f"sandbox.writable: {name} is not a folder")
    return path
