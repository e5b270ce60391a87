"""Servers of a session, over the scripted one."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pinfold.mcp.definition import Definition
from pinfold.mcp.place import ServerPlace
from pinfold.mcp.servers import McpServers
from pinfold.ports.servers import ServerState

SCRIPT = Path(__file__).with_name("mcp_server.py")


def fake(*options: str, **more: Any) -> Definition:
    """The scripted server, with options of its own and settings."""
    given = {
        "command": str(Path(sys.executable).resolve()),
        "args": (str(SCRIPT), *options),
        **more,
    }
    return Definition("fake", **given)


def servers(folder: Path, definition: Definition, **more: Any) -> McpServers:
    """All of a session, which works in `folder`."""
    place = ServerPlace(folder, folder / "session", folder / "state", **more)
    return McpServers([definition], place)


async def started(given: McpServers, *, yes: bool = True, name: str = "fake") -> ServerState:
    """Its state once it has settled, after as many answers as it wants."""
    await given.start(name)
    state = await given.settled(name)
    while state.state == "waiting":
        await given.answer(name, yes=yes)
        state = await given.settled(name)
    return state


async def until(given: McpServers, condition: Callable[[], bool], name: str) -> ServerState:
    """Its state once the condition holds."""
    changed = asyncio.Event()
    stop = given.on_change(lambda _: changed.set())
    try:
        while not condition():
            await changed.wait()
            changed.clear()
    finally:
        stop()
    return given.state(name)
