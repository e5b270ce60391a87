"""The vault of this home: taking in, finding again, and keeping at it while pinfold runs."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pinfold import paths
from pinfold.adopt import detect
from pinfold.adopt.foreign_list import tool_folders
from pinfold.agent.clock import CLOCK
from pinfold.catalog import reading
from pinfold.catalog.reading import Chunk, Reading
from pinfold.host import finding
from pinfold.host.app_context import AppContext
from pinfold.host.finding import catalog, low_priority, resting
from pinfold.rollout.journal import JournalError
from pinfold.rollout.walking import Place
from pinfold.vault import taking
from pinfold.vault.shelf import Entry, Shelf, VaultError
from pinfold.vault.taking import Limits, Report

EVERY = 600.0
"""Seconds between two syncs while pinfold runs."""
_GB = 10**9


class _Stopped(Exception):
    """pinfold ends."""


def shelf(ctx: AppContext) -> Shelf:
    return Shelf(ctx.home)


def sync(ctx: AppContext, taken: Callable[[int, int], object] = lambda _, __: None) -> Report:
    """Take in what is new. Raises `VaultError`."""
    settings = ctx.settings.vault
    limits = Limits(int(settings.max_gb * _GB), settings.keep_days)
    try:
        return taking.sync(shelf(ctx), tool_folders(), limits, CLOCK.now(), taken)
    except OSError as error:
        raise VaultError(f"The vault can't be used: {error.strerror or error}.") from error


def forget(ctx: AppContext, entry: Entry) -> None:
    """Remove a session for good, from the index too. Raises `VaultError`."""
    there = shelf(ctx)
    with taking.locked(there):
        try:
            there.remove(entry, for_good=True)
        except OSError as error:
            name = paths.shown(there.folder(entry.tool, entry.session))
            why = error.strerror or error
            raise VaultError(f"{name} could not be removed: {why}.") from error
    finding.forget(ctx, there.folder(entry.tool, entry.session))


def one(ctx: AppContext, prefix: str) -> Entry:
    """The entry whose session's id begins so. Raises `VaultError`."""
    match shelf(ctx).find(prefix):
        case [entry]:
            return entry
        case []:
            raise VaultError(f"There is no session in the vault whose id begins with “{prefix}”.")
        case several:
            names = ", ".join(entry.session for entry in several[:5])
            raise VaultError(f"More than one session's id begins with “{prefix}”: {names}.")


def file_of(ctx: AppContext, prefix: str) -> Path | None:
    """The newest file of that session; None unless there is one such session."""
    with suppress(VaultError):
        return shelf(ctx).file(one(ctx, prefix))
    return None


async def watch(ctx: AppContext) -> None:
    """Take in what is new, now and every ten minutes, behind all else, until cancelled."""
    stopped = threading.Event()
    try:
        while True:
            working = asyncio.create_task(asyncio.to_thread(_quietly, ctx, stopped.is_set))
            try:
                await asyncio.shield(working)
            except asyncio.CancelledError:
                stopped.set()
                await asyncio.wait([working])
                raise
            await asyncio.sleep(EVERY)
    finally:
        stopped.set()


def _quietly(ctx: AppContext, stopped: Callable[[], bool]) -> None:
    """What goes wrong is told by the next `pinfold vault sync`."""

    def taken(_: int, __: int) -> None:
        if stopped():
            raise _Stopped

    low_priority()
    with suppress(VaultError, _Stopped):
        if sync(ctx, taken).changed:
            for _ in resting(catalog(ctx).fill(), stopped):
                pass


class Searched:
    """The vault as the index of all sessions reads it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._shelf = Shelf(home)

    def places(self) -> Sequence[tuple[Place, str, int]]:
        return list(self._places())

    def _places(self) -> Iterator[tuple[Place, str, int]]:
        for entry in self._shelf.entries():
            for version in entry.versions:
                file = self._shelf.file(entry, version).relative_to(self._home)
                yield Place(str(file), version.size, version.stamp[1]), entry.session, 0
                agents = (named for named in version.beside.items() if named[0].endswith(".jsonl"))
                for number, (name, (size, mtime_ns)) in enumerate(agents, 1):
                    path = self._shelf.beside(entry, version).relative_to(self._home) / name
                    yield Place(str(path), size, mtime_ns), entry.session, number

    def read(self, path: str) -> tuple[Reading, Chunk]:
        return _read(self._home / path)


def _read(file: Path) -> tuple[Reading, Chunk]:
    try:
        adoption = detect.read(file)
    except JournalError as error:
        raise OSError(str(error)) from error
    found, chunk = reading.of_events(adoption.events)
    found.said.title, found.said.cwd = adoption.title, adoption.cwd
    found.said.model = adoption.model
    return found, chunk
