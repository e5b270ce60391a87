"""The index of all sessions, and filling it in the background."""

from pathlib import Path

from pinfold import paths
from pinfold.catalog.catalog import Catalog
from pinfold.host.app_context import AppContext
from pinfold.host.background import Stopped, behind, resting


def catalog(ctx: AppContext) -> Catalog:
    """The index of the sessions in `ctx`."""
    from pinfold.host.vault_sessions import VaultSessions

    vault = VaultSessions(ctx.home) if ctx.sessions == ctx.home else None
    return Catalog(ctx.sessions, paths.catalog(ctx.sessions), vault)


def forget(ctx: AppContext, folder: Path) -> None:
    """Remove a deleted session or entry of the vault from the index."""
    catalog(ctx).forget(folder)


async def keep_up(ctx: AppContext) -> None:
    """Bring the index up to date in the background, until cancelled."""
    await behind(lambda stopped: fill(ctx, stopped))


def fill(ctx: AppContext, stopped: Stopped) -> None:
    """Bring the index up to date, with rests, until `stopped`."""
    for _ in resting(catalog(ctx).fill(), stopped):
        pass
