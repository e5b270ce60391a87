"""The MCP servers: state, cost, and actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import BindingType

from pinfold.agent.updates import ServerChanged, Update
from pinfold.commands.mcp import NONE
from pinfold.commands.mcp_text import ServerLine, page, server_lines
from pinfold.mcp.browser import open_page
from pinfold.numbers import tokens
from pinfold.ports.tool import ToolError
from pinfold.sanitize import one_line
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.item import ItemPanel
from pinfold.tui.panels.keys import keys, moves
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.server_question import ask_server
from pinfold.tui.panels.table import Cell, Sizes, Table
from pinfold.tui.panels.table_panel import TablePanel

if TYPE_CHECKING:
    from pinfold.agent.context.folding import Folding
    from pinfold.agent.servers.in_session import SessionServers
    from pinfold.agent.session import Session

KEYS = [
    *moves("mcp"),
    *keys(
        "mcp",
        ("enter", "open", "Show its tools and texts", "tools"),
        ("a", "answer", "Answer what it asks", "answer"),
        ("l", "login", "Sign in to it with a browser", "sign in"),
        ("r", "restart", "Start it, or start it again", "restart"),
        ("s", "stop", "Stop it", "stop"),
        ("f", "fold", "Fold or unfold it (/undo does not), after showing the price", "fold"),
        ("escape,q", "leave", "Close"),
    ),
]
_INKS = {"ready": "success", "failed": "error", "waiting": "warning"}


class ServerTable(Table[ServerLine]):
    SIZES: ClassVar[Sizes] = {
        "sign": 1,
        "name": 16,
        "state": 8,
        "tools": 8,
        "tokens": 6,
        "words": 0,
    }
    RIGHT = ("tools", "tokens")
    GIVE_WAY: ClassVar[Sizes] = {"state": 0, "name": 10}
    ENOUGH = 20
    STAYS = True

    def cells(self, row: ServerLine) -> Iterable[Cell]:
        dim, plain = self.ink("foreground 60%"), self.ink("foreground")
        colour = self.ink(_INKS[row.state]) if row.state in _INKS else dim
        yield row.sign, colour
        yield row.name, plain
        yield row.state, colour
        yield f"{row.tools} tool{'s' if row.tools != 1 else ''}", dim
        yield tokens(row.tokens) if row.tokens else "–", plain
        yield row.note, dim


class ServersPanel(TablePanel[None]):
    HEADING = "MCP servers"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, session: Session, servers: SessionServers, asks: str = "") -> None:
        """`asks` is the server whose question is shown first; `login NAME` signs in to it."""
        self._list: ServerTable = ServerTable()
        super().__init__(self._list, session)
        self._session = session
        self._servers = servers
        self._asks = asks
        self._waiting: Folding | None = None

    def begin(self) -> None:
        self.read()
        verb, _, name = self._asks.rpartition(" ")
        if verb:
            self._login(name)
        elif name:
            self._answer(name)

    def hear(self, update: Update) -> None:
        if isinstance(update, ServerChanged):
            self.read_soon()
        super().hear(update)

    def read(self) -> None:
        lines = server_lines(self._servers, self._session.window.overview().context)
        self._list.show({line.name: line for line in lines})
        ready = sum(line.state == "ready" for line in lines)
        cost = tokens(sum(line.tokens for line in lines))
        asks = sum(line.state == "waiting" for line in lines)
        said = [f"{ready} of {len(lines)} ready", f"{cost} tokens in each request"]
        waits = "waits" if asks == 1 else "wait"
        signs = sum(self._servers.port.state(name).sign_in for name in self._servers.port.names())
        said += [f"{signs} to sign in to: {self.key_of('mcp.login')}"] if signs else []
        said += [f"? {asks} {waits} for your answer: {self.key_of('mcp.answer')}"] if asks else []
        self._facts.update(" · ".join(said))

    @on(Table.Moved)
    def _moved(self) -> None:
        row = self._list.row
        if row is None:
            return
        if self._waiting is not None and self._waiting.name != row.name:
            self._waiting = None
        self._foot.show(row.name, row.state, row.note)

    @property
    def _server(self) -> str:
        """The server under the cursor, as the settings have it."""
        places = list(self._list.rows)
        current = self._list.current
        names = list(self._servers.port.names())
        return names[places.index(current)] if current in places else ""

    @on(Table.Taken)
    def action_open(self) -> None:
        if name := self._server:
            text = page(self._servers, name, self._session.window.overview().context)
            self.app.push_screen(ItemPanel(f"MCP server {name}", text))

    def action_answer(self) -> None:
        if not (name := self._server):
            return
        if self._servers.port.state(name).question is None:
            self._foot.say("It is not asking anything.", "warning")
        else:
            self._answer(name)

    @work(exclusive=True, group="answer")
    async def _answer(self, name: str) -> None:
        with self.telling():
            await ask_server(self.app, self._servers, name)
            self.read_now()

    def action_login(self) -> None:
        if name := self._server:
            self._login(name)

    @work(exclusive=True, group="login")
    async def _login(self, name: str) -> None:
        page: ItemPanel | None = None

        def show(address: str) -> None:
            nonlocal page
            opened = open_page(address)
            where = "in the browser that opens" if opened else "at this address, in a browser"
            page = ItemPanel(f"Sign in to {name} {where}", one_line(address))
            self.app.push_screen(page)

        with self.telling():
            try:
                where = await self._servers.port.sign_in(name, show)
                self._foot.say(f"Signed in. The tokens are {where}.")
            except ToolError as error:
                self._foot.say(one_line(str(error)), "error")
            if page is not None and self.app.screen is page:
                page.dismiss(None)
            self.read_now()

    async def action_restart(self) -> None:
        await self._do("restart")

    async def action_stop(self) -> None:
        await self._do("stop")

    async def _do(self, what: str) -> None:
        if name := self._server:
            port = self._servers.port
            with self.telling():
                await (port.restart(name) if what == "restart" else port.stop(name))
                self.read_now()

    async def action_fold(self) -> None:
        if not (name := self._server):
            return
        with self.telling():
            listed = self._servers.front().get(name)
            folding = await self._servers.folding(
                name, folded=listed is not None and not listed.folded
            )
            if folding == self._waiting:
                self._waiting = None
                said = await self._session.window.fold_front(folding)
            else:
                self._waiting = folding
                said = f"{folding.said} {self.key_of('mcp.fold')} again does it."
            self.read_now()
            self._foot.say(said)


def _open(host: PanelHost, asks: str) -> ServersPanel | ItemPanel:
    servers = host.session.servers
    if servers is None:
        return ItemPanel("MCP servers", NONE)
    return ServersPanel(host.session, servers, asks)


PANEL = Panel("Among MCP servers (/mcp)", KEYS, _open)
