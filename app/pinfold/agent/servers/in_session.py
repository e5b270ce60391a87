"""The MCP servers of a session: started, watched, announced, folded."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pinfold.agent.context.folding import Folding, priced
from pinfold.agent.context.instructions import hashed
from pinfold.agent.context.telling import Telling, tell
from pinfold.agent.record import Record
from pinfold.agent.servers.listing import REFUSED, USER, Listing
from pinfold.agent.servers.tools import CallTool, FindTools, Reach, ServerCall
from pinfold.agent.updates import ServerChanged
from pinfold.ports.errors import RequestRejected
from pinfold.ports.servers import Servers, ServerState
from pinfold.ports.tool import Tool, ToolError
from pinfold.rollout.context import Context, FrontServer
from pinfold.sanitize import one_line
from pinfold.settings import Mode
from pinfold.window.refused import Refused

MOST_REFUSED = 3
"""Tools that are folded one by one because the provider refused them; then all are."""
_OF_TOOLS = re.compile(r"schema|function|tool|parameters", re.IGNORECASE)
_PLACE = re.compile(r"tools?\b[\[.](\d+)")


class SessionServers:
    """`Session.servers`."""

    def __init__(
        self,
        record: Record,
        servers: Servers,
        listing: Listing,
        mode: Callable[[], Mode],
    ) -> None:
        self.port = servers
        self.listing = listing
        self._record = record
        self._own = not record.journal.started.parent
        """Whether they end with this session: an agent's belong to the session that started it."""
        self._reach = Reach(servers, listing, self.ready, lambda: mode() != "full")
        self._changed = asyncio.Event()
        self._said: dict[str, str] = {}
        """What the user was last told about each."""
        self._refused = 0
        self._stop = servers.on_change(self._hear)
        self._starting: set[asyncio.Task[None]] = set()

    def begin(self) -> None:
        """Start them, without waiting."""
        if self._own and not self._record.journal.read_only:
            for name in self.port.names():
                task = asyncio.create_task(self.port.start(name))
                self._starting.add(task)
                task.add_done_callback(self._starting.discard)

    async def close(self) -> None:
        self._stop()
        for task in tuple(self._starting):
            task.cancel()
        if self._own:
            await self.port.aclose()

    # Tools

    def tools(self) -> list[Tool]:
        """Tools that are always available."""
        return [FindTools(self._reach, self._record.gauge.counter.count), CallTool(self._reach)]

    def tool(self, name: str) -> Tool | None:
        """The tool that a model calls by this name."""
        context = self._context
        schema = next((one for one in context.tools if one.name == name), None)
        for server in context.servers:
            for tool in server.tools:
                if tool.wire == name and schema is not None:
                    return ServerCall(self._reach, schema, server.name, tool.name, tool.hash)
        return None

    async def ready(self, name: str) -> None:
        """Wait until a server has started. Raises `ToolError` if it can't be used."""
        while (state := self.port.state(name)).state == "starting":
            self._changed.clear()
            await self._changed.wait()
        if state.state == "waiting":
            raise ToolError(f"MCP server {name} waits for the user's approval (/mcp).")
        if state.state != "ready":
            raise ToolError(f"MCP server {name} is not running. {one_line(state.why)}".strip())
        if not state.approved:
            raise ToolError(f"The texts of MCP server {name} wait for the user's approval (/mcp).")

    # The front

    @property
    def _context(self) -> Context:
        return self._record.state.context.context

    def context(self, own: Context, *, stays: bool) -> Context:
        """`own` with what the front says of servers."""
        return self.listing.context(own, self._context, stays=stays)

    async def refused(self, error: RequestRejected) -> bool:
        """Fold the tool whose schema the provider refused; whether there was one.

        Raises `JournalError`.
        """
        context = self._context
        theirs = {
            tool.wire: (server, tool.name)
            for server in context.servers
            for tool in server.tools
            if any(schema.name == tool.wire for schema in context.tools)
        }
        if not theirs or not _OF_TOOLS.search(str(error)):
            return False
        wires = [wire for wire in theirs if re.search(rf"(?<![\w-]){wire}(?![\w-])", str(error))]
        if not wires and (place := _PLACE.search(str(error))):
            at = int(place[1])
            wires = [t.name for t in context.tools[at : at + 1] if t.name in theirs]
        self._refused += 1
        named = bool(wires)
        if not wires or self._refused > MOST_REFUSED:
            wires, named = list(theirs), False
        if named:
            await self._remember([theirs[wire] for wire in wires])
        for wire in wires:
            server, tool = theirs[wire]
            context = self.listing.turned(context, server.name, tool, folded=True, why=REFUSED)
        names = ", ".join(wires[:3]) + (f" and {len(wires) - 3} more" if len(wires) > 3 else "")
        self._record.warn(f"{one_line(str(error))[:200]} Folded {names}; sending again.")
        await self._record.append(hashed(context))
        return True

    async def _remember(self, refused: Sequence[tuple[FrontServer, str]]) -> None:
        """Remember refused schemas for later sessions."""
        for server, name in refused:
            tool = self.listing.tool(server.name, name)
            if tool is not None:
                await self.port.remember_refused(server.name, [self.listing.refused_key(tool)])

    # What the model is told

    async def tell(self) -> None:
        """Append what changed and the front does not say. Raises `JournalError`."""
        front = {server.name: server for server in self._context.servers}
        found = (self._telling(name, front.get(name)) for name in self.port.names())
        await tell(self._record, *(telling for telling in found if telling is not None))

    def _telling(self, name: str, front: FrontServer | None) -> Telling | None:
        state, about = self.port.state(name), f"MCP server {name}"
        known = about in self._record.state.known
        if state.state == "ready" and state.approved:
            if front is not None and front.hash == state.hash and front.folded != "stopped":
                again = f"{about} is available, as listed at the beginning."
                return Telling(about, again, f"ready {state.hash}") if known else None
            text = self.listing.line(state, " is available now")
            if front is not None and front.hash != state.hash:
                text += self._changes(state, front)
            return Telling(about, text, f"ready {state.hash}")
        if front is None and not known:
            return None
        if state.state in ("failed", "stopped"):
            why = f" {one_line(state.why)[:300]}" if state.why else ""
            return Telling(about, f"{about} is not running: its tools fail.{why}", "down")
        if state.state == "waiting" or (state.state == "ready" and not state.approved):
            text = f"{about} waits for the user's approval. Until then its tools fail."
            return Telling(about, text, "waiting")
        return None

    def _changes(self, state: ServerState, front: FrontServer) -> str:
        """Tools in the front that have changed."""
        now = {tool.name: tool.hash for tool in state.tools}
        shown = () if front.folded else front.tools
        gone = [t.wire for t in shown if not t.folded and now.get(t.name) != t.hash]
        return (
            f"\nThese changed since they were listed; use call_tool instead: {', '.join(gone)}"
            if gone
            else ""
        )

    # What the user is told

    def _hear(self, name: str) -> None:
        self._changed.set()
        state, said = self.port.state(name), ""
        if state.state == "failed":
            said = f"MCP server {one_line(name)}: {one_line(state.why)} /mcp restarts it."
        if self._own and said and said != self._said.get(name):
            self._record.warn(said)
        self._said[name] = said
        self._record.tell(ServerChanged(name))

    # What the user does

    def states(self) -> Sequence[ServerState]:
        return [self.port.state(name) for name in self.port.names()]

    def front(self) -> Mapping[str, FrontServer]:
        """The servers in the front of requests, by name."""
        return {server.name: server for server in self._record.gauge.context.servers}

    async def folding(self, name: str, tool: str = "", *, folded: bool) -> Folding:
        """The fold of a server or one tool, with its price. Raises `Refused`."""
        record = self._record
        if name not in self.port.names():
            raise Refused(f"There is no MCP server {name}.")
        record.check_writable()
        before = record.gauge.context
        turned = partial(self.listing.turned, before, name, tool, folded=folded, why=USER)
        after = await asyncio.to_thread(turned)
        if after == before:
            raise Refused(f"{name} is {'folded' if folded else 'unfolded'} already.")
        what = f"{name}/{tool}" if tool else name
        return await asyncio.to_thread(priced, record, what, after, folded=folded)
