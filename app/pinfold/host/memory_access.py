"""The memories that a session reads, and the teams that share them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinfold.host.app_context import AppContext

if TYPE_CHECKING:
    from pinfold.memories.reader import MemoryReader
    from pinfold.memories.team.teams import Teams


def reader_of(ctx: AppContext) -> MemoryReader | None:
    """The memories of a new session; None if it reads none."""
    memories = ctx.settings.memories
    if not (memories.enabled and memories.use):
        return None
    from pinfold.agent.clock import CLOCK
    from pinfold.memories.reader import MemoryReader

    return MemoryReader(ctx.home, CLOCK.now, teams_of(ctx))


def teams_of(ctx: AppContext) -> Teams | None:
    """The user's teams; None if nothing is shared. Raises `SettingsError`."""
    settings = ctx.settings.memories
    if not (settings.enabled and settings.team):
        return None
    from pinfold.memories.team.sharing import teams
    from pinfold.memories.team.teams import Teams

    return Teams(ctx.home, teams(settings.team), settings.database)
