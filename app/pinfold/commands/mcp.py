"""MCP servers: `/mcp`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinfold.commands.action import Action
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context

if TYPE_CHECKING:
    from pinfold.agent.servers.in_session import SessionServers

USE = (
    "/mcp opens the list, /mcp list prints it; /mcp restart, stop, answer, login, fold or unfold "
    "takes the name of a server, fold and unfold also SERVER/TOOL."
)
NONE = "No MCP server is configured. Add one with `pinfold mcp add` (see docs/mcp.md)."


async def mcp(context: Context, what: Sequence[str] = ()) -> None:
    servers = context.session.servers
    if servers is None:
        context.tell(NONE)
        return
    match what:
        case []:
            context.open("mcp")
        case ["list"]:
            from pinfold.commands.mcp_text import server_lines, text

            lines = server_lines(servers, context.session.window.overview().context)
            context.tell(text(lines))
        case ["restart", name]:
            await servers.port.restart(_known(servers, name))
        case ["stop", name]:
            await servers.port.stop(_known(servers, name))
        case ["answer", name]:
            if servers.port.state(_known(servers, name)).question is None:
                raise CommandError(f"MCP server {name} is not asking anything.")
            context.open("mcp", name)
        case ["login", name]:
            context.open("mcp", f"login {_known(servers, name)}")
        case ["fold" | "unfold" as act, place, *rest] if rest in ([], ["now"]):
            name, _, tool = place.partition("/")
            folding = await servers.folding(_known(servers, name), tool, folded=act == "fold")
            if rest:
                context.tell(await context.session.window.fold_front(folding))
            else:
                context.tell(f"{folding.said} /mcp {act} {place} now does it.")
        case _:
            raise CommandError(USE)


def _known(servers: SessionServers, name: str) -> str:
    if name not in servers.port.names():
        known = ", ".join(servers.port.names())
        raise CommandError(f"There is no MCP server {name}. There are: {known}.")
    return name


def _offers(_: Context) -> Sequence[str]:
    return ("list", "restart", "stop", "answer", "login", "fold", "unfold")


ACTIONS = (
    Action(
        "mcp",
        "MCP servers: their tools and tokens, restart, stop, fold",
        "agents",
        ("mcp",),
        (
            Argument(
                "what", metavar="[list|restart|stop|login|fold NAME]", kind="words", offers=_offers
            ),
        ),
        run=mcp,
    ),
)
