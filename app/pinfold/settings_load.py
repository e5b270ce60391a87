"""Reads the settings: flags > environment > the project's file > the user's file.

Each source is checked by itself, so that an error names its file or variable.
The environment spells a key as `PINFOLD_MODEL__CONTEXT_WINDOW=8192`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from pinfold.paths import shown
from pinfold.settings import DRIFTS, MODES, Settings, SettingsError
from pinfold.small_files import read_text

_ALSO = {
    "PINFOLD_MODEL_CONTEXT_WINDOW_TOKENS": ("model", "context_window"),
    "PINFOLD_COMPACT_MODEL_CONTEXT_WINDOW_TOKENS": ("compact", "context_window"),
}
"""Variables with special names; the regular ones override them."""

_LISTS = frozenset(
    {
        "approvals.allow",
        "approvals.deny",
        "compact.keep_roles",
        "compact.keep_files_glob",
        "sandbox.writable",
        "tools.env_keep",
        "web.hosts",
        "web.private",
    }
)

_USERS_OWN = frozenset(
    {
        "cluster.address",
        "cluster.ca_file",
        "cluster.cert_file",
        "cluster.key_file",
        "mcp.budget_pct",
        "mcp.servers",
        "memories.database",
        "memories.team",
        "vault.keep_days",
        "vault.max_gb",
        "vault.watch",
    }
)
"""Where data goes and what starts by itself: no project can set these, trusted or not."""

MAX_BYTES = 262_144
"""Of a config file."""


class Loaded(Struct, frozen=True):
    """The settings, and where they come from."""

    settings: Settings
    origins: Mapping[str, str]
    """`model.name` -> the source that set it; defaults are absent."""
    files: tuple[Path, ...]
    warnings: tuple[str, ...]


def load(
    *,
    env: Mapping[str, str],
    user_file: Path,
    project_file: Path,
    trusted: bool,
    flags: Mapping[str, Any],
) -> Loaded:
    """Read and merge every source. `flags` are dotted keys. Raises `SettingsError`."""
    warnings: list[str] = []
    files: list[Path] = []
    layers: list[tuple[str, dict[str, Any]]] = []
    for path in (user_file, project_file):
        data = _read(path)
        if data is None:
            continue
        files.append(path)
        if path == project_file:
            data, refused = _without_users_own(data)
            if refused:
                warnings.append(
                    f"{shown(path)}: {' and '.join(refused)} can only be set in your own config"
                )
        if path == project_file and not trusted:
            data, waiting = _narrowed(data, layers)
            if waiting:
                warnings.append(f"{shown(path)}: {_waits(waiting)}")
        layers.append((shown(path), _checked(data, shown(path))))
    for source, data in (
        ("the environment", _from_environment(env)),
        ("a flag", _nested(flags)),
    ):
        layers.append((source, _checked(data, source)))

    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for source, data in layers:
        for section, values in data.items():
            target = merged.setdefault(section, {})
            for key, value in values.items():
                if isinstance(value, dict) and isinstance(target.get(key), dict):
                    value = {**target[key], **value}  # noqa: PLW2901
                target[key] = value
                origins[f"{section}.{key}"] = source
    settings = msgspec.convert(merged, Settings, strict=False)
    return Loaded(settings, origins, tuple(files), tuple(warnings))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        text = read_text(path, MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SettingsError(f"{shown(path)} can't be read: {error.strerror or error}") from error
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise SettingsError(f"{shown(path)} is nested too deeply") from error
    except ValueError as error:
        raise SettingsError(f"{shown(path)} is not valid TOML: {error}") from error


def _checked(data: dict[str, Any], source: str) -> dict[str, Any]:
    try:
        msgspec.convert(data, Settings, strict=False)
    except msgspec.ValidationError as error:
        from pinfold.settings_check import complaint

        why = complaint(data, Settings) or "these settings can't be used"
        raise SettingsError(f"{source}: {why}") from error
    return data


def _without_users_own(data: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A project's settings without those it may not set, and the names of these."""
    refused = [
        f"{section}.{key}"
        for section, values in data.items()
        if isinstance(values, dict)
        for key in values
        if f"{section}.{key}" in _USERS_OWN
    ]
    kept = {
        section: {k: v for k, v in values.items() if f"{section}.{k}" not in refused}
        if isinstance(values, dict)
        else values
        for section, values in data.items()
    }
    return kept, refused


def _narrowed(
    data: dict[str, Any], below: list[tuple[str, dict[str, Any]]]
) -> tuple[dict[str, Any], list[str]]:
    """The settings that an untrusted project may set, and the names of the others."""
    kept: dict[str, Any] = {}
    waiting: list[str] = []
    for section, values in data.items():
        if not isinstance(values, dict):
            waiting.append(section)
            continue
        for key, value in values.items():
            name = f"{section}.{key}"
            if _narrows(name, value, below):
                kept.setdefault(section, {})[key] = value
            else:
                waiting.append(name)
    return kept, waiting


def _narrows(name: str, value: Any, below: list[tuple[str, dict[str, Any]]]) -> bool:
    """Whether a setting is stricter than the one `below`, or only changes colours."""
    match name:
        case "approvals.mode":
            now = MODES.index(_set_last(name, "ask", below))
            return value in MODES[: now + 1]
        case "approvals.drift":
            now = DRIFTS.index(_set_last(name, "after-compaction", below))
            return value in DRIFTS[: now + 1]
        case "compact.auto" | "memories.generate":
            return bool(value == "off")
        case (
            "compact.prepare"
            | "agent.prewarm"
            | "memories.enabled"
            | "memories.use"
            | "web.fetch"
            | "web.search"
        ):
            return value is False
        case "ui.theme":
            return isinstance(value, str)
    return False


def _waits(names: list[str]) -> str:
    from pinfold.closest import listed

    wait = "waits" if len(names) == 1 else "wait"
    return f"{listed(names)} {wait} until you trust this folder (/trust)"


def _set_last(name: str, default: str, below: list[tuple[str, dict[str, Any]]]) -> Any:
    section, _, key = name.partition(".")
    found = (layer[section][key] for _, layer in reversed(below) if key in layer.get(section, {}))
    return next(found, default)


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, path in _ALSO.items():
        if value := env.get(name):
            _put(found, list(path), value, "the environment")
    for name, value in env.items():
        if not name.startswith("PINFOLD_") or "__" not in name or not value:
            continue
        section, _, key = name.removeprefix("PINFOLD_").lower().partition("__")
        _put(found, [section, *key.split("__")], value, "the environment")
    return found


def _nested(flags: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for dotted, value in flags.items():
        if value is not None:
            _put(out, dotted.split("."), value, "a flag")
    return out


def _put(target: dict[str, Any], path: list[str], value: str, source: str) -> None:
    for length, part in enumerate(path[:-1], 1):
        target = target.setdefault(part, {})
        if not isinstance(target, dict):
            above = ".".join(path[:length])
            raise SettingsError(f"{source}: both {above} and {'.'.join(path)} are set")
    target[path[-1]] = value.split(",") if ".".join(path) in _LISTS else value
