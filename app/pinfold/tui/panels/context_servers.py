"""Servers, their tools and skills in the context panel: what folding costs, and then doing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinfold.tokens.items import SKILLS
from pinfold.window.overview import ContextRow, ItemRow

if TYPE_CHECKING:
    from pinfold.agent.context.folding import Folding
    from pinfold.agent.session import Session
    from pinfold.tui.panels.context_rows import AnyRow

SERVERS = "f folds or unfolds this, and shows first what that costs."


class ServerFolds:
    """The first key shows the price; the same key again folds."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._servers = session.servers
        self._waiting: Folding | None = None

    def place(self, row: AnyRow | None) -> tuple[str, str] | None:
        """The server of a row, and the tool where the row is one; no server for that of skills;
        None of other rows."""
        if row is None or isinstance(row, ItemRow):
            return None
        assert isinstance(row, ContextRow)
        if (row.part, row.name) == ("instructions", SKILLS):
            return "", SKILLS
        if self._servers is None:
            return None
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
        assert place is not None
        server, name = place
        if server:
            assert self._servers is not None
            folding = await self._servers.folding(server, name, folded=folded)
        else:
            folding = self._session.skills.folding(folded=folded)
        if self._waiting == folding:
            self._waiting = None
            return await self._session.window.fold_front(folding)
        self._waiting = folding
        return f"{folding.said} {key} again does it."

    def moved(self, row: AnyRow | None) -> None:
        """The cursor may be elsewhere: then the next key shows a price again."""
        place = self.place(row)
        name = "" if place is None else "/".join(filter(None, place))
        if self._waiting and self._waiting.name != name:
            self._waiting = None
