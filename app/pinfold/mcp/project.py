"""Reads the servers in a project's `.mcp.json`, all of which is untrusted."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from pinfold.mcp.definition import Definition, DefinitionError, check
from pinfold.paths import shown
from pinfold.sanitize import one_line
from pinfold.settings_check import complaint
from pinfold.small_files import read

FILE = ".mcp.json"
MAX_BYTES = 262_144
MOST = 50
"""Servers of one project."""


class _Entry(Struct, frozen=True):
    type: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    cwd: str = ""
    env: dict[str, str] = field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)


def project_servers(root: Path) -> tuple[list[Definition], dict[str, str]]:
    """The servers, and by name a sentence for each that can't be used. Blocking."""
    path = root / FILE
    try:
        entries = entries_of(read(path, MAX_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return [], {}
    except OSError as error:
        return [], {FILE: f"{shown(path)} can't be read: {error.strerror}."}
    except ValueError as error:
        return [], {FILE: f"{shown(path)} can't be used: {error}."}
    found: list[Definition] = []
    problems: dict[str, str] = {}
    for name, entry in list(entries.items())[:MOST]:
        try:
            found.append(definition_of(name, entry))
        except DefinitionError as error:
            problems[one_line(name)[:64]] = f"{shown(path)}: {error}"
    return found, problems


def entries_of(data: bytes) -> dict[str, Any]:
    """What is in `mcpServers`. Raises `ValueError`, which says what is wrong."""
    try:
        content = msgspec.json.decode(data)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError as error:
        raise ValueError("it is not valid JSON") from error
    servers = content.get("mcpServers", {}) if isinstance(content, dict) else None
    if not isinstance(servers, dict):
        raise ValueError("it has no object mcpServers")
    return servers


def definition_of(name: str, entry: Any) -> Definition:
    """A server as Claude Code writes it down. Raises `DefinitionError`."""
    called = f'The server "{one_line(name)[:80]}"'
    if not isinstance(entry, dict):
        raise DefinitionError(f"{called} must be an object.")
    known = {key: entry[key] for key in _Entry.__struct_fields__ if key in entry}
    if why := complaint(known, _Entry):
        raise DefinitionError(f"{called} can't be used: {one_line(why)[:200]}.")
    given = msgspec.convert(known, _Entry, strict=False)
    if given.type == "sse":
        raise DefinitionError(f'{called} speaks the old transport "sse", which pinfold does not.')
    definition = Definition(
        name,
        "project",
        given.command,
        given.args,
        given.cwd,
        given.url,
        given.headers,
        env=given.env,
        sandbox=True,
    )
    check(definition)
    return definition
