"""Memories for the screen and the command line."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING

from pinfold.host.app_context import AppContext
from pinfold.host.memory_access import teams_of

if TYPE_CHECKING:
    from pinfold.host.remembering import Only
    from pinfold.memories.keeper import Keeper


class Memories:
    """The user's memories, with the present settings."""

    def __init__(self, ctx: AppContext) -> None:
        self._ctx = ctx

    @property
    def enabled(self) -> bool:
        return self._ctx.in_folder(self._ctx.cwd).settings.memories.enabled

    @cached_property
    def keeper(self) -> Keeper:
        from pinfold.agent.clock import CLOCK
        from pinfold.memories.keeper import Keeper

        return Keeper(self._ctx.home, CLOCK.now, teams_of(self._ctx))

    async def run(self, but: Collection[str] = (), only: Only | None = None) -> str:
        """Read the sessions that are due, or `only` those. Raises `StateError`, `ProviderError`."""
        from pinfold.host.remembering import remember

        return str(await remember(self._ctx.in_folder(self._ctx.cwd), but, force=True, only=only))

    def switch(self, *, on: bool) -> str:
        """Raises `SettingsError`."""
        from pinfold.host.defaults import write

        said = write(self._ctx, "memories", {"enabled": on})
        if on:
            return f"{said} Memories are on, starting with the next session."
        return (
            f"{said} Memories are off, starting with the next session; f on their row in "
            "/context leaves them out of this one."
        )
