"""Writes MCP servers into the user's config file; the rest stays unchanged."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pinfold.atomic_files import failure, make_folder, write_atomic
from pinfold.host.app_context import AppContext, config_files
from pinfold.settings import SettingsError
from pinfold.settings_load import MAX_BYTES
from pinfold.small_files import read_text

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_COMMENTS = re.compile(r"(?:^[ \t]*(?:#.*)?\n)*\Z", re.MULTILINE)


def add(ctx: AppContext, servers: Mapping[str, Mapping[str, Any]]) -> Path:
    """Add servers; returns the file. Raises `SettingsError`."""
    file, text, before = _read(ctx)
    known = before.get("mcp", {}).get("servers", {})
    for name in servers:
        if name in known:
            raise SettingsError(f'There is already a server "{name}": pinfold mcp remove {name}')
    parts = [text.rstrip()] if text.strip() else []
    parts += [section(name, values) for name, values in servers.items()]
    _write(file, "\n\n".join(part.rstrip() for part in parts) + "\n", {**known, **servers}, before)
    return file


def section(name: str, values: Mapping[str, Any]) -> str:
    """A server as TOML."""
    import tomlkit

    lines = [f"[mcp.servers.{tomlkit.key(name).as_string()}]"]
    for key, value in values.items():
        if isinstance(value, Mapping):
            inner = tomlkit.inline_table()
            inner.update(value)
            lines.append(f"{key} = {inner.as_string()}")
        else:
            lines.append(f"{key} = {tomlkit.item(value).as_string()}")
    return "\n".join(lines)


def remove(ctx: AppContext, name: str) -> Path:
    """Remove a server; returns the file. Raises `SettingsError`."""
    file, text, before = _read(ctx)
    known = dict(before.get("mcp", {}).get("servers", {}))
    if known.pop(name, None) is None:
        raise SettingsError(f'There is no server "{name}" in {file}.')
    key = rf"(?:{re.escape(name)}|\"{re.escape(name)}\"|'{re.escape(name)}')"
    own = re.compile(rf"[ \t]*\[\s*mcp\s*\.\s*servers\s*\.\s*{key}\s*[.\]]")
    starts = [match.start() for match in _HEADER.finditer(text)]
    parts = [text[: starts[0]] if starts else text]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        part = text[start:end]
        if not own.match(part):
            parts.append(part)
        elif end < len(text) and (behind := _COMMENTS.search(part)):
            # Comments before the next section belong to it.
            parts.append(behind[0].lstrip("\n"))
    _write(file, "".join(parts).rstrip() + "\n", known, before)
    return file


def _read(ctx: AppContext) -> tuple[Path, str, dict[str, Any]]:
    file, _ = config_files(ctx.cwd)
    try:
        text = read_text(file, MAX_BYTES)
    except FileNotFoundError:
        text = ""
    except OSError as error:
        raise SettingsError(f"{file} can't be read: {error.strerror}") from error
    try:
        return file, text, tomllib.loads(text)
    except ValueError as error:
        raise SettingsError(f"{file} is not valid TOML: {error}") from error


def _write(file: Path, text: str, servers: Mapping[str, Any], before: dict[str, Any]) -> None:
    """Raises `SettingsError` if the text changes anything but `servers`."""
    by_hand = SettingsError(f"{file} can't be changed without touching the rest: edit it by hand.")
    expected = {**before, "mcp": {**before.get("mcp", {}), "servers": dict(servers)}}
    try:
        changed = tomllib.loads(text)
    except ValueError as error:
        raise by_hand from error
    if _plain(changed) != _plain(expected):
        raise by_hand
    path = file.resolve()  # a link stays one
    try:
        make_folder(path.parent)
        write_atomic(path, text.encode(), path.stat().st_mode & 0o777 if path.exists() else 0o600)
    except OSError as error:
        raise SettingsError(failure(file, error)) from error


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """The same without empty sections, with lists for tuples."""
    mcp = {**value.get("mcp", {})}
    servers = {name: _listed(one) for name, one in mcp.pop("servers", {}).items()}
    return {**value, "mcp": {**mcp, **({"servers": servers} if servers else {})}}


def _listed(server: Mapping[str, Any]) -> dict[str, Any]:
    return {key: list(one) if isinstance(one, tuple) else one for key, one in server.items()}
