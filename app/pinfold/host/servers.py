"""The MCP servers of a session, from the user's settings and the project's `.mcp.json`."""

from pathlib import Path
from typing import TYPE_CHECKING

from pinfold import paths
from pinfold.host.app_context import AppContext
from pinfold.host.models import key_variables
from pinfold.output import warn
from pinfold.ports.tool import Sandbox
from pinfold.settings import ServerSettings

if TYPE_CHECKING:
    from pinfold.mcp.definition import Definition
    from pinfold.mcp.servers import McpServers

FILE = ".mcp.json"


def project_root(ctx: AppContext) -> Path:
    return paths.repository_root(ctx.cwd) or ctx.cwd


def servers_of(
    ctx: AppContext, folder: Path, sandbox: tuple[Sandbox | None, str], *, attended: bool
) -> "McpServers | None":
    """The servers for the session in `folder`; None if none is configured. Blocking.

    `sandbox` is the session's, or why it has none. If nobody can be asked (`attended`), problems
    with servers are printed on standard error.
    """
    root = project_root(ctx)
    if not ctx.settings.mcp.servers and not (root / FILE).exists():
        return None
    from pinfold.mcp.place import ServerPlace
    from pinfold.mcp.servers import McpServers

    found, broken = definitions(ctx)
    if not found and not broken:
        return None
    place = ServerPlace(
        workspace=ctx.cwd,
        project=root,
        folder=folder,
        state=ctx.home / "mcp",
        sandbox=sandbox[0],
        no_sandbox=sandbox[1],
        secret=key_variables(ctx.settings),
        attended=attended,
    )
    made = McpServers(found, place, broken)
    if not attended:

        def say(name: str) -> None:
            state = made.state(name)
            if state.why and (state.state == "stopped" or state.sign_in):
                warn(f"MCP server {name}: {state.why}")

        made.on_change(say)
    return made


def definitions(ctx: AppContext) -> "tuple[list[Definition], dict[str, str]]":
    """Enabled servers, the user's first; by name, why others can't be used. Blocking."""
    from msgspec.structs import replace

    from pinfold.mcp.definition import DefinitionError, check
    from pinfold.mcp.project import project_servers

    settings = ctx.settings.mcp.servers
    found: list[Definition] = []
    broken: dict[str, str] = {}
    for name, given in settings.items():
        if not given.enabled or not (given.command or given.url):
            continue
        try:
            definition = of_user(name, given)
            check(definition)
            found.append(definition)
        except DefinitionError as error:
            broken[name] = str(error)
    project, wrong = project_servers(project_root(ctx))
    for definition in project:
        name, own = definition.name, settings.get(definition.name)
        if own is None:
            found.append(definition)
        elif own.enabled and not (own.command or own.url):
            found.append(
                replace(
                    definition,
                    sandbox=own.sandbox is not False,
                    network=own.network,
                    enabled_tools=own.enabled_tools,
                    disabled_tools=own.disabled_tools,
                    startup_timeout=own.startup_timeout,
                    tool_timeout=own.tool_timeout,
                )
            )
    return found, {**wrong, **broken}


def of_user(name: str, given: ServerSettings) -> "Definition":
    from pinfold.mcp.definition import Definition

    values = {
        key: getattr(given, key) for key in Definition.__struct_fields__ if hasattr(given, key)
    }
    return Definition(name, "user", **values | {"sandbox": bool(given.sandbox)})
