"""`/mcp` at the prompt."""

import pytest

from fakes.commands import FakeContext
from fakes.live_session import live_session
from fakes.servers import FakeServers, asks, ready, server_tool
from pinfold.agent.options import Options
from pinfold.commands.arguments import CommandError
from pinfold.commands.mcp import mcp
from pinfold.ports.servers import ServerState

GIT = ready("git", server_tool("git", "log"), server_tool("git", "diff"))


async def test_what_mcp_lists_and_does() -> None:
    down = ServerState("time", "failed", "It\x1b[2J exited.")
    servers = FakeServers(GIT, down, asks("shop"), known=[GIT])
    context = FakeContext(live_session(options=Options(servers=servers), gauge=None))
    await context.session.count_front()
    await mcp(context)
    assert context.opened == ["mcp"]
    await mcp(context, ["list"])
    git, time, shop = context.told[-1].splitlines()
    assert git.split()[:5] == ["●", "git", "ready", "2", "tools"]
    assert time.endswith("It␛[2J exited.")
    assert shop.startswith("? shop  waiting")
    await mcp(context, ["fold", "git/log"])
    assert context.told[-1].endswith("nothing is cached yet. /mcp fold git/log now does it.")
    await mcp(context, ["fold", "git/log", "now"])
    assert context.told[-1].startswith("Folded git/log: ")
    await mcp(context, ["restart", "time"])
    await mcp(context, ["stop", "git"])
    assert servers.done[-2:] == ["restart time", "stop git"]
    await mcp(context, ["answer", "shop"])
    assert (context.opened[-1], context.search) == ("mcp", "shop")
    for what, why in (
        (["answer", "git"], "is not asking anything"),
        (["stop", "x"], "There is no MCP server x"),
        (["sing"], "/mcp opens the list"),
    ):
        with pytest.raises(CommandError, match=why):
            await mcp(context, what)


async def test_without_servers_it_says_how_to_add_one() -> None:
    context = FakeContext()
    await mcp(context)
    assert context.told == [
        "No MCP server is configured. Add one with `pinfold mcp add` (see docs/mcp.md)."
    ]
