"""Reads the MCP servers of other agents as settings."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from pinfold.paths import shown
from pinfold.settings import ServerSettings, SettingsError
from pinfold.small_files import read

Agent = Literal["codex", "claude"]
MAX_BYTES = 32_000_000
_CODEX = {
    **{name: name for name in ("command", "args", "cwd", "url", "env", "enabled")},
    **{name: name for name in ("enabled_tools", "disabled_tools")},
    "bearer_token_env_var": "bearer_env",
    "http_headers": "headers",
    "startup_timeout_sec": "startup_timeout",
    "tool_timeout_sec": "tool_timeout",
}
"""Codex's keys, and ours."""
_CLAUDE = ("command", "args", "cwd", "url", "env", "headers")


def servers_of_agent(
    agent: Agent, cwd: Path, env: Mapping[str, str]
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Settings by name, and a sentence for each server that can't be used. Blocking.

    Raises `SettingsError` if there are none.
    """
    home = Path(env.get("HOME") or Path.home())
    if agent == "codex":
        path = Path(env.get("CODEX_HOME") or home / ".codex") / "config.toml"
        given = _read(path, lambda data: tomllib.loads(data.decode())).get("mcp_servers")
        return _taken(path, [given], _codex)
    folder = env.get("CLAUDE_CONFIG_DIR")
    path = Path(folder or home) / ".claude.json"
    content = _read(path, msgspec.json.decode)
    projects = content.get("projects")
    here = projects.get(str(cwd)) if isinstance(projects, dict) else None
    local = here.get("mcpServers") if isinstance(here, dict) else None
    return _taken(path, [content.get("mcpServers"), local], _claude)


def _read(path: Path, parse: Callable[[bytes], Any]) -> dict[str, Any]:
    try:
        content = parse(read(path, MAX_BYTES))
    except OSError as error:
        raise SettingsError(f"{shown(path)} can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{shown(path)} can't be read: it is not valid") from error
    return content if isinstance(content, dict) else {}


def _taken(
    path: Path, given: Iterable[Any], convert: Callable[[dict[str, Any]], dict[str, Any]]
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    from pinfold.host.servers import of_user
    from pinfold.mcp.definition import DefinitionError, check

    found: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    entries = {name: one for part in given if isinstance(part, dict) for name, one in part.items()}
    for name, entry in entries.items():
        try:
            if not isinstance(entry, dict):
                raise DefinitionError(f'The server "{name}" is not a table.')
            if entry.get("type") == "sse":
                raise DefinitionError(f'The server "{name}" speaks the old transport "sse".')
            values = convert(entry)
            check(of_user(name, msgspec.convert(values, ServerSettings)))
            found[name] = values
        except msgspec.ValidationError as error:
            problems.append(f'The server "{name}" can\'t be used: {error}.')
        except DefinitionError as error:
            problems.append(str(error))
    if not found and not problems:
        raise SettingsError(f"{shown(path)} has no MCP servers")
    return found, problems


def _codex(entry: dict[str, Any]) -> dict[str, Any]:
    values = {own: entry[name] for name, own in _CODEX.items() if name in entry}
    for name, key in (("env_vars", "env"), ("env_http_headers", "headers")):
        more = entry.get(name)
        if isinstance(more, list):
            more = {one: one for one in more if isinstance(one, str)}
        if isinstance(more, dict) and more:
            named = {one: f"${{{variable}}}" for one, variable in more.items()}
            values[key] = {**values.get(key, {}), **named}
    return values


def _claude(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in _CLAUDE if entry.get(name)}
