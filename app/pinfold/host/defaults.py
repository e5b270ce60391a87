"""Writes settings into the user's config file; the rest of the file stays unchanged."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold import paths
from pinfold.atomic_files import failure, make_folder, replacing
from pinfold.compaction.view import PlanOptions
from pinfold.host.app_context import AppContext, config_files
from pinfold.settings import SettingsError
from pinfold.settings_load import MAX_BYTES
from pinfold.small_files import read

if TYPE_CHECKING:
    from tomlkit.items import Item, Key, Table

SECTION = "compact"
PLAN_OPTIONS = (
    "target_pct",
    "min_headroom_tokens",
    "max_tail_messages",
    "user_message_tokens",
    "keep_roles",
    "keep_files_glob",
)
"""Settings of `[compact]` that are plan options of the same name."""


def save(ctx: AppContext, strategy: str, options: PlanOptions) -> str:
    """Write what differs from the present settings; returns a sentence on what was written.

    Raises `SettingsError`, also if the file can't be read or written; it is then unchanged.
    """
    now = ctx.in_folder(ctx.cwd).settings.compact
    wanted = {"mode": strategy, **{name: getattr(options, name) for name in PLAN_OPTIONS}}
    changed = {name: value for name, value in wanted.items() if getattr(now, name) != value}
    if not changed:
        return "These are already the defaults."
    return write(ctx, SECTION, changed)


def write(ctx: AppContext, section: str, changed: Mapping[str, object]) -> str:
    """Write settings of a section; returns a sentence on where, and on what still overrides them.

    Raises `SettingsError`, also if the file can't be read or written; it is then unchanged.
    """
    import tomlkit

    file, _ = config_files(ctx.cwd)
    values = {
        name: list(value) if isinstance(value, tuple) else value for name, value in changed.items()
    }
    try:
        _write(file, section, values)
    except OSError as error:
        raise SettingsError(failure(file, error)) from error
    after = ctx.in_folder(ctx.cwd).loaded
    lines = [f"{name} = {tomlkit.item(value).as_string()}" for name, value in values.items()]
    over = [
        f"{after.origins[f'{section}.{name}']} still sets {section}.{name}"
        for name, value in changed.items()
        if getattr(getattr(after.settings, section), name) != value
    ]
    but = f" But {', '.join(over)} here." if over else ""
    return f"Saved in {paths.shown(file)}: {', '.join(lines)}.{but}"


def _write(path: Path, name: str, values: Mapping[str, object]) -> None:
    """Put `values` into the section of that name. Raises `SettingsError`, `OSError`."""
    from tomlkit.exceptions import TOMLKitError

    path = path.resolve()  # a link stays one
    make_folder(path.parent)
    there = path.exists()
    text = read(path, MAX_BYTES).decode() if there else ""
    mode = path.stat().st_mode if there else 0o600
    end = "\r\n" if "\r\n" in text else "\n"
    expected = tomllib.loads(text)
    expected[name] = {**expected.get(name, {}), **values}
    try:
        changed = _changed(text.replace("\r\n", "\n"), name, values)
    except TOMLKitError as error:
        raise SettingsError(f"{path} can't be changed: {error}") from error
    if tomllib.loads(changed) != expected:
        raise SettingsError(f"{path} can't be changed without touching the rest: edit it by hand.")
    with replacing(path) as file:
        file.write(changed.replace("\n", end).encode())
    path.chmod(mode)


def _changed(text: str, name: str, values: Mapping[str, object]) -> str:
    import tomlkit
    from tomlkit.items import Table

    document = tomlkit.parse(text)
    section = document.get(name)
    if section is None:
        before = f"{text.rstrip()}\n\n" if text.strip() else ""
        return before + tomlkit.dumps({name: values})
    behind = _taken_from_behind(section) if isinstance(section, Table) else []
    for key, value in values.items():
        section[key] = value
    if behind:
        section.value.body.extend(behind)
    return tomlkit.dumps(document)


def _taken_from_behind(section: "Table") -> "list[tuple[Key | None, Item]]":
    """Comments after the last key, removed: they belong to the next section."""
    body = section.value.body
    end = max((at for at, (key, _) in enumerate(body, 1) if key is not None), default=0)
    behind = body[end:]
    del body[end:]
    return behind
