"""The vault of this home: syncing, lookup, and watching while pinfold runs."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pinfold import paths
from pinfold.adopt.foreign_list import tool_folders
from pinfold.agent.clock import CLOCK
from pinfold.host import finding
from pinfold.host.app_context import AppContext
from pinfold.host.background import Stopped, behind
from pinfold.vault import taking
from pinfold.vault.shelf import Shelf, VaultEntry, VaultError
from pinfold.vault.taking import SyncReport

EVERY = 600.0
"""Seconds between two syncs while pinfold runs."""
_GB = 10**9


class _Stopped(Exception):
    """pinfold is closing."""


def shelf(ctx: AppContext) -> Shelf:
    return Shelf(ctx.home)


def sync(ctx: AppContext, taken: Callable[[int, int], object] = lambda _, __: None) -> SyncReport:
    """Copy new sessions. Raises `VaultError`."""
    settings = ctx.settings.vault
    try:
        return taking.sync(
            shelf(ctx),
            tool_folders(),
            CLOCK.now(),
            max_bytes=int(settings.max_gb * _GB),
            keep_days=settings.keep_days,
            taken=taken,
        )
    except OSError as error:
        raise VaultError(f"The vault can't be used: {error.strerror or error}.") from error


def forget(ctx: AppContext, entry: VaultEntry) -> None:
    """Remove a session for good, also from the index. Raises `VaultError`."""
    there = shelf(ctx)
    with taking.locked(there):
        try:
            there.remove(entry, for_good=True)
        except OSError as error:
            name = paths.shown(there.folder(entry.tool, entry.session))
            why = error.strerror or error
            raise VaultError(f"{name} could not be removed: {why}.") from error
    finding.forget(ctx, there.folder(entry.tool, entry.session))


def one(ctx: AppContext, prefix: str) -> VaultEntry:
    """The entry of the one session whose id begins with `prefix`. Raises `VaultError`."""
    match shelf(ctx).find(prefix):
        case [entry]:
            return entry
        case []:
            raise VaultError(f"There is no session in the vault whose id begins with “{prefix}”.")
        case several:
            names = ", ".join(entry.session for entry in several[:5])
            raise VaultError(f"More than one session's id begins with “{prefix}”: {names}.")


def file_of(ctx: AppContext, prefix: str) -> Path | None:
    """The newest file of that session; None unless there is exactly one."""
    with suppress(VaultError):
        return shelf(ctx).file(one(ctx, prefix))
    return None


async def watch(ctx: AppContext) -> None:
    """Sync now and every ten minutes at low priority, until cancelled."""
    while True:
        await behind(lambda stopped: _quietly(ctx, stopped))
        await asyncio.sleep(EVERY)


def _quietly(ctx: AppContext, stopped: Stopped) -> None:
    """Sync, and ignore failures: the next `pinfold vault sync` reports them."""

    def taken(_: int, __: int) -> None:
        if stopped():
            raise _Stopped

    with suppress(VaultError, _Stopped):
        if sync(ctx, taken).changed:
            finding.fill(ctx, stopped)
