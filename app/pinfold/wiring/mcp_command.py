"""`pinfold mcp`: adds, lists, tests, removes and imports servers; serves sessions."""

import argparse
import asyncio
import os
import sys
from contextlib import suppress
from typing import Any, get_args

from pinfold import paths
from pinfold.host.app_context import AppContext, WrongUse, app_context
from pinfold.numbers import plural
from pinfold.output import warn
from pinfold.ports.tool import ToolError
from pinfold.sanitize import clean, one_line
from pinfold.wiring.stdin import agreed, confirmed

USES = {
    "add": "pinfold mcp add NAME COMMAND [ARG ...], or pinfold mcp add NAME URL; "
    "put -- before a command with options",
    "list": "pinfold mcp list",
    "test": "pinfold mcp test NAME",
    "login": "pinfold mcp login NAME",
    "remove": "pinfold mcp remove NAME",
    "import": "pinfold mcp import codex|claude",
    "serve": "pinfold mcp serve --folder DIR",
}


def command(arguments: argparse.Namespace) -> int:
    ctx, words = app_context(arguments), arguments.words
    match arguments.action, words:
        case "add", [name, first, *rest]:
            return _add(ctx, arguments, name, first, rest)
        case "list", []:
            return _list(ctx)
        case "test", [name]:
            return asyncio.run(_test(ctx, name))
        case "login", [name]:
            return asyncio.run(_test(ctx, name, login=True))
        case "remove", [name]:
            return _remove(ctx, name)
        case "import", ["codex" | "claude"]:
            return _import(ctx, words[0], yes=arguments.yes)
        case "serve", []:
            from pinfold.wiring.mcp_serve import serve

            return serve(ctx, arguments.folder or ())
    raise WrongUse(f"use: {USES[arguments.action]}")


def _add(
    ctx: AppContext, arguments: argparse.Namespace, name: str, first: str, rest: list[str]
) -> int:
    import msgspec

    from pinfold.host import server_config
    from pinfold.host.servers import of_user
    from pinfold.mcp.definition import DefinitionError, check
    from pinfold.settings import ServerSettings

    values: dict[str, Any] = {}
    if first.startswith(("http://", "https://")) and not rest:
        values["url"] = first
    else:
        values["command"] = first
        values |= {"args": rest} if rest else {}
    values |= {"cwd": arguments.cwd} if arguments.cwd else {}
    values |= {"bearer_env": arguments.bearer_env} if arguments.bearer_env else {}
    for option, key in ((arguments.env, "env"), (arguments.header, "headers")):
        if option:
            values[key] = dict(_pair(text) for text in option)
    values |= {"sandbox": True} if arguments.sandbox else {}
    values |= {"network": True} if arguments.network else {}
    try:
        check(of_user(name, msgspec.convert(values, ServerSettings)))
    except DefinitionError as error:
        raise WrongUse(str(error)) from error
    file = server_config.add(ctx, {name: values})
    print(f"Added to {paths.shown(file)}:\n\n{clean(server_config.section(name, values))}\n")
    print(f"Try it, and see what it offers: pinfold mcp test {name}")
    return 0


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise WrongUse(f"{text!r} must be NAME=VALUE")
    return name, value


def _list(ctx: AppContext) -> int:
    from pinfold.host.servers import definitions
    from pinfold.mcp.place import ServerPlace
    from pinfold.mcp.servers import McpServers

    found, broken = definitions(ctx)
    servers = McpServers(found, ServerPlace(ctx.cwd, ctx.home / "mcp", ctx.home / "mcp"))
    for one in found:
        known = servers.known(one.name)
        offers = _counted(known) if known else "not accepted yet"
        whose = "yours" if one.source == "user" else "project"
        print(f"{one.name:<20}  {whose:<8}  {offers:<28}  {one_line(one.line)}")
    for name, why in broken.items():
        print(f"{one_line(name):<20}  {one_line(why)}")
    for name, given in ctx.settings.mcp.servers.items():
        if not given.enabled:
            print(f"{one_line(name):<20}  off")
    if not found and not broken and not ctx.settings.mcp.servers:
        print(f"No servers. Add one: {USES['add']}")
    return 0


def _counted(state: Any) -> str:
    kinds = {"tool": state.tools, "prompt": state.prompts, "resource": state.resources}
    return ", ".join(plural(len(offered), kind) for kind, offered in kinds.items())


async def _test(ctx: AppContext, name: str, *, login: bool = False) -> int:
    """Start a server, ask what a session would ask, print what it offers; with `login`, sign in."""
    from pinfold.host.sandbox import sandbox_of
    from pinfold.host.servers import servers_of

    folder = ctx.home / "mcp" / "test"
    sandbox = await asyncio.to_thread(sandbox_of, ctx, folder)
    attended = sys.stdin.isatty()
    servers = await asyncio.to_thread(servers_of, ctx, folder, sandbox, attended=attended)
    if servers is None or name not in servers.names():
        raise WrongUse(f'There is no server "{name}": pinfold mcp list')
    try:
        await servers.restart(name)
        state = await _answered(servers, name)
        ask = "Sign in now?"
        if login or (state.sign_in and attended and await asyncio.to_thread(agreed, ask)):
            try:
                where = await servers.sign_in(name, _open)
            except ToolError as error:
                warn(str(error))
                return 1
            print(f"Signed in. The tokens are {where}.")
            state = await _answered(servers, name)
        if state.state != "ready":
            if attended or state.state == "failed":  # else it was said
                warn(f"MCP server {name}: {state.why}")
            return 1
        print(f"{name} is ready: {_counted(state)}")
        for tool in state.tools:
            print(f"  {one_line(tool.name):<28}  {one_line(tool.description)[:100]}")
        return 0
    finally:
        await servers.aclose()


async def _answered(servers: Any, name: str) -> Any:
    """Its state, after the user has answered its questions."""
    state = await servers.settled(name)
    while state.question is not None:
        asked = state.question
        print(f"{asked.diff or asked.text}\n")
        await servers.answer(name, yes=await asyncio.to_thread(agreed, asked.title))
        state = await servers.settled(name)
    return state


def _open(address: str) -> None:
    from pinfold.mcp.browser import open_page

    opened = open_page(address)
    print("Sign in in your browser:" if opened else "Open this address in a browser to sign in:")
    print(f"\n{one_line(address)}\n", flush=True)


def _remove(ctx: AppContext, name: str) -> int:
    from pinfold.host import server_config
    from pinfold.host.servers import of_user
    from pinfold.mcp.answers import Answers
    from pinfold.mcp.definition import DefinitionError, expanded
    from pinfold.mcp.grants import GrantFile

    given = ctx.settings.mcp.servers.get(name)
    file = server_config.remove(ctx, name)
    if given is not None:
        definition = of_user(name, given)
        Answers(ctx.home / "mcp", ctx.cwd).forget(definition)
        with suppress(DefinitionError):
            given_now = expanded(definition, os.environ, ())
            GrantFile(ctx.home / "mcp", given_now, ctx.cwd).remove()
    print(f"Removed {name} from {paths.shown(file)}.")
    return 0


def _import(ctx: AppContext, agent: Any, *, yes: bool) -> int:
    from pinfold.host import server_config
    from pinfold.host.app_context import config_files
    from pinfold.host.server_import import Agent, servers_of_agent

    assert agent in get_args(Agent)
    found, problems = servers_of_agent(agent, ctx.cwd, os.environ)
    for problem in problems:
        print(one_line(problem), file=sys.stderr)
    known = ctx.settings.mcp.servers
    for name in sorted(found.keys() & known.keys()):
        print(f'There is already a server "{one_line(name)}".', file=sys.stderr)
    new = {name: values for name, values in found.items() if name not in known}
    if not new:
        print("Nothing to add.")
        return 0
    for name, values in new.items():
        print(clean(server_config.section(name, _masked(values))), end="\n\n")
    file = config_files(ctx.cwd)[0]
    what = "this" if len(new) == 1 else "these"
    if not confirmed(f"Add {what} to {paths.shown(file)}?", yes=yes):
        print("Nothing was added.")
        return 1
    server_config.add(ctx, new)
    print(f"Added to {paths.shown(file)}: {', '.join(map(one_line, new))}")
    return 0


def _masked(values: dict[str, Any]) -> dict[str, Any]:
    """`values` without those of variables and headers, which may be secrets; names stay."""
    return {
        key: {name: one if one.startswith("${") else "***" for name, one in value.items()}
        if isinstance(value, dict)
        else value
        for key, value in values.items()
    }
