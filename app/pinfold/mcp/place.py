"""Where a session's servers run, and the transports to them."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pinfold.mcp.connection import Transport
from pinfold.mcp.definition import Definition, environment, folder_of
from pinfold.mcp.grants import GrantFile
from pinfold.mcp.log import Log
from pinfold.ports.tool import Sandbox, ToolError


class ServerPlace(Struct, frozen=True):
    """Where servers run."""

    workspace: Path
    """The session's folder of work, resolved."""
    folder: Path
    """The session's own, for logs and long results."""
    state: Path
    """The user's, for answers."""
    sandbox: Sandbox | None = None
    no_sandbox: str = ""
    """Why there is none."""
    secret: Collection[str] = ()
    """Variables that no server gets."""
    project: Path | None = None
    """The folder of `.mcp.json`, where that is another one."""
    attended: bool = True
    """Whether anybody answers questions."""
    env: Mapping[str, str] = os.environ
    http: Any = None
    """What HTTP requests go through: an `httpx2.AsyncBaseTransport`. None is the network."""


def signs_in(given: Definition) -> bool:
    """Whether the user may have to sign in: nothing in its configuration does so already."""
    return bool(given.url) and "authorization" not in map(str.lower, given.headers)


def transport_of(given: Definition, place: ServerPlace, base: Path) -> Transport:
    """The transport for an expanded definition, whose paths begin at `base`. Raises `ToolError`."""
    if given.url:
        from pinfold.mcp.http import Http

        auth = None
        if signs_in(given):
            from pinfold.mcp.oauth import Signing

            auth = Signing(given.url, GrantFile(place.state, given, base))
        return Http(
            given.url, given.headers, startup=given.startup_timeout, inner=place.http, auth=auth
        )
    from pinfold.mcp.stdio import Stdio

    sandbox = None
    if given.sandbox and place.sandbox is not None:
        scratch = place.sandbox.scratch / f"server-{given.name}"
        sandbox = replace(place.sandbox, network=given.network, scratch=scratch)
    elif given.sandbox and given.source == "user":
        raise ToolError(f"it must run in a sandbox, and none is available: {place.no_sandbox}")
    return Stdio(
        (given.command, *given.args),
        folder_of(given, base),
        environment(given, place.env),
        Log(place.folder / "servers" / f"{given.name}.log"),
        sandbox=sandbox,
        startup=given.startup_timeout,
    )
