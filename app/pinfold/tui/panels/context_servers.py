"""Servers and their tools in the context panel: what folding them costs, and then doing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinfold.window.overview import ContextRow, ItemRow

if TYPE_CHECKING:
    from pinfold.agent.servers.in_session import Folding, SessionServers
    from pinfold.tui.panels.context_rows import AnyRow

SERVERS = "f folds or unfolds this, and shows first what that costs."


class ServerFolds:
    """The first key shows the price; the same key again folds."""

    def __init__(self, servers: SessionServers | None) -> None:
        self._servers = servers
        self._waiting: Folding | None = None

    def place(self, row: AnyRow | None) -> tuple[str, str] | None:
        """The server of a row, and the tool where the row is one; None of other rows."""
        if self._servers is None or row is None or isinstance(row, ItemRow):
            return None
        assert isinstance(row, ContextRow)
        for server in self._servers.front().values():
            if row.part == "servers" and server.name == row.name:
                return server.name, ""
            for tool in server.tools:
                if row.part == "tools" and tool.wire == row.name:
                    return server.name, tool.name
        return None

    async def press(self, row: ContextRow, *, folded: bool, key: str) -> str:
        """What to say of it. Raises `Refused`, `JournalError`."""
        place = self.place(row)
        assert self._servers is not None
        assert place is not None
        folding = self._servers.folding(*place, folded=folded)
        if self._waiting == folding:
            self._waiting = None
            return await self._servers.fold(folding)
        self._waiting = folding
        return f"{folding.said} {key} again does it."

    def moved(self, row: AnyRow | None) -> None:
        """The cursor may be elsewhere: then the next key shows a price again."""
        place = self.place(row)
        if self._waiting and (not place or self._waiting.name != "/".join(filter(None, place))):
            self._waiting = None
