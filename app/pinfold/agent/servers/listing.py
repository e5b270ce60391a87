"""The servers' part of the front, and when it may change."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from pinfold.agent.record import Record
from pinfold.agent.servers import texts
from pinfold.agent.servers.names import wire_names
from pinfold.ports.provider import ModelInfo
from pinfold.ports.servers import Servers, ServerState, ServerTool
from pinfold.rollout.context import Context, FrontServer, FrontTool, ToolSchema
from pinfold.settings import WireApi
from pinfold.window.refused import Refused
from pinfold.wire.wires import wire_of

NEW, BUDGET, STOPPED, REFUSED, USER = "new", "budget", "stopped", "schema", "user"
"""Why a server or a tool is folded."""


@dataclass(eq=False)
class Listing:
    """Makes the servers' part of a context, new or as it was."""

    _record: Record
    _servers: Servers
    _known: Mapping[str, ServerState]
    """The lists of last time."""
    _model: Callable[[], ModelInfo]
    _wire_api: Callable[[], WireApi]
    _budget: float
    """The share of the window that unfolded servers may take."""
    _taken: Callable[[], Iterable[str]]
    """Names of the session's other tools."""
    _told: dict[tuple[str, str], ToolSchema | None] = field(default_factory=dict, init=False)
    """Tools as models are told of them, by the name for the wire and the hash of the texts."""

    # Lists

    def lists(self, name: str) -> ServerState | None:
        """What a server offers, if the user approved it: now, else last time."""
        try:
            live = self._servers.state(name)
        except KeyError:
            return None
        if live.approved and live.hash:
            return live
        return self._known.get(name)

    def tool(self, server: str, name: str) -> ServerTool | None:
        lists = self.lists(server)
        tools = lists.tools if lists is not None else ()
        return next((tool for tool in tools if tool.name == name), None)

    def refused_key(self, tool: ServerTool) -> str:
        """By which it is remembered that this model's provider refused a tool's schema."""
        return f"{self._model().provider} {tool.hash}"

    def runs(self, name: str) -> bool:
        """Whether it may be used, now or once it has started."""
        state = self._servers.state(name)
        return state.state == "starting" or (state.state == "ready" and state.approved)

    # The front

    def context(self, own: Context, before: Context, *, stays: bool) -> Context:
        """`own` with the servers as `before` has them, where the front `stays`, else anew."""
        own = _without_tools(own, before)  # the tools of a fork are those of its parent
        configured = set(self._servers.names())
        if stays and all(server.name in configured for server in before.servers):
            return _joined(own, before.servers, _schemas_in(before))
        return self._made(own, self._decided(before))

    def turned(self, before: Context, name: str, tool: str, *, folded: bool, why: str) -> Context:
        """`before` with a server, or one tool of it, folded or unfolded.

        Raises `Refused` where it can't be.
        """
        lists = self.lists(name)
        if lists is None:
            raise Refused(f"MCP server {name} has no tools that you approved.")
        if not folded and not self.runs(name):
            raise Refused(f"MCP server {name} is not running: restart it first (/mcp).")
        now = next((one for one in before.servers if one.name == name), None)
        if now is None or now.hash != lists.hash:
            now = replace(
                self._server(lists, now, set(self._taken()) - _tool_names(before)), folded=NEW
            )
        if tool:
            now = _with_tool(now, tool, why if folded else "")
        else:
            now = replace(now, folded=why if folded else "", open=not folded)
        others = [one for one in before.servers if one.name != name]
        return self._made(own_part(before), self._decided(replace(before, servers=(*others, now))))

    def cost(self, server: FrontServer) -> int:
        """Tokens of a server as it stands in requests."""
        return sum(map(self._tokens, self._schemas(server))) + self._count(self._text(server))

    def _made(self, own: Context, servers: Iterable[FrontServer]) -> Context:
        listed = [replace(server, text=self._text(server)) for server in servers]
        return _joined(own, listed, [s for server in listed for s in self._schemas(server)])

    def _decided(self, before: Context) -> list[FrontServer]:
        earlier = {server.name: server for server in before.servers}
        names = set(self._taken()) - _tool_names(before)
        found: list[FrontServer] = []
        for name in self._servers.names():
            if (lists := self.lists(name)) is not None:
                found.append(self._server(lists, earlier.get(name), names))
                names |= {tool.wire for tool in found[-1].tools}
        return self._within_budget(found)

    def _server(
        self, lists: ServerState, before: FrontServer | None, taken: set[str]
    ) -> FrontServer:
        wires = wire_names(((lists.name, tool.name) for tool in lists.tools), taken)
        old = {tool.name: tool for tool in before.tools} if before is not None else {}
        tools: list[FrontTool] = []
        for tool in lists.tools:
            if tool.name not in wires or any(tool.name == one.name for one in tools):
                continue
            was = old.get(tool.name)
            why = was.folded if was is not None and was.hash == tool.hash else ""
            if (
                self._schema(tool, wires[tool.name]) is None
                or self.refused_key(tool) in lists.unsendable
            ):
                why = REFUSED
            tools.append(FrontTool(tool.name, wires[tool.name], tool.hash, why))
        return FrontServer(
            lists.name,
            lists.hash,
            tuple(tools),
            folded=self._fold_reason(lists, before),
            open=before is not None and before.open and before.hash == lists.hash,
        )

    def _fold_reason(self, lists: ServerState, before: FrontServer | None) -> str:
        """Why a server is folded, apart from the budget."""
        if before is not None and before.folded == USER:
            return USER
        if self._servers.state(lists.name).state in ("failed", "stopped"):
            return STOPPED
        if before is not None and before.hash == lists.hash:
            return NEW if before.folded == NEW else ""
        known = self._known.get(lists.name)
        return "" if known is not None and known.hash == lists.hash else NEW

    def _within_budget(self, servers: list[FrontServer]) -> list[FrontServer]:
        """The largest are folded until the rest fits."""
        most = int(self._budget * self._model().context_window)
        costs = {one.name: self.cost(one) for one in servers if not one.folded}
        folded: set[str] = set()
        closed = {one.name for one in servers if not one.folded and not one.open}
        while sum(costs.values()) > most and closed - folded:
            largest = max(closed - folded, key=lambda name: (costs[name], name))
            folded.add(largest)
            del costs[largest]
        return [replace(one, folded=BUDGET) if one.name in folded else one for one in servers]

    # Texts

    def _schemas(self, server: FrontServer) -> list[ToolSchema]:
        if server.folded:
            return []
        found = []
        for tool in server.tools:
            now = None if tool.folded else self.tool(server.name, tool.name)
            schema = self._schema(now, tool.wire) if now is not None else None
            found += [schema] if schema is not None else []
        return found

    def _schema(self, tool: ServerTool, wire: str) -> ToolSchema | None:
        key = (wire, tool.hash)
        if key not in self._told:
            self._told[key] = texts.schema_of(tool, wire)
        return self._told[key]

    def _text(self, server: FrontServer) -> str:
        folded = [tool.name for tool in server.tools if server.folded or tool.folded]
        line = texts.index(server.name, folded, self._count) if folded else ""
        lists = None if server.folded else self.lists(server.name)
        said = texts.instructions(lists, self._count) if lists is not None else ""
        return "\n".join(part for part in (line, said) if part)

    def line(self, lists: ServerState, is_: str = "") -> str:
        """The line of a server that the front does not have as it is."""
        return texts.index(lists.name, [tool.name for tool in lists.tools], self._count, is_)

    def said(self, name: str) -> str:
        """A server's instructions."""
        lists = self.lists(name)
        return texts.instructions(lists, self._count) if lists is not None else ""

    def _tokens(self, schema: ToolSchema) -> int:
        wire = wire_of(self._wire_api()).overhead
        return self._count(wire.schema(schema)) + wire.tool

    def _count(self, text: str) -> int:
        return self._record.gauge.counter.count(text) if text else 0


def _with_tool(server: FrontServer, tool: str, why: str) -> FrontServer:
    """The server with one tool folded, or unfolded: the others stay as they are."""
    was = next((one for one in server.tools if one.name == tool), None)
    if was is None:
        raise Refused(f"MCP server {server.name} has no tool {tool}.")
    if was.folded == REFUSED and not why:
        raise Refused(f"{was.name} can't be unfolded: its schema can't be sent.")
    tools = [
        replace(one, folded=why)
        if one.name == tool
        else replace(one, folded=one.folded or (USER if server.folded else ""))
        for one in server.tools
    ]
    opened = not why or server.open
    return replace(server, tools=tuple(tools), folded="" if not why else server.folded, open=opened)


def own_part(context: Context) -> Context:
    """A context without its servers."""
    return replace(_without_tools(context, context), servers=())


def _without_tools(context: Context, other: Context) -> Context:
    """`context` without the tools of the servers in `other`."""
    theirs = _tool_names(other)
    tools = tuple(tool for tool in context.tools if tool.name not in theirs)
    return replace(context, tools=tools)


def _schemas_in(context: Context) -> list[ToolSchema]:
    theirs = _tool_names(context)
    return [tool for tool in context.tools if tool.name in theirs]


def _tool_names(context: Context) -> set[str]:
    """The names that models call the tools of servers by."""
    return {tool.wire for server in context.servers for tool in server.tools}


def _joined(own: Context, servers: Iterable[FrontServer], schemas: Iterable[ToolSchema]) -> Context:
    return replace(own, tools=(*own.tools, *schemas), servers=tuple(servers))
