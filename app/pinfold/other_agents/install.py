"""Puts the hook into an agent's settings, and takes it out again, byte for byte."""

import base64
import hashlib
import os
import shlex
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import unified_diff
from pathlib import Path

import msgspec
from msgspec import Struct

from pinfold import atomic_files, paths, small_files
from pinfold.other_agents import settings_text
from pinfold.other_agents.agents import HookRefused, OtherAgent

_MOST = 5_000_000
"""Bytes of settings that are read."""


class SettingsChange(Struct, frozen=True):
    """What installing or removing would do to a file."""

    path: Path
    before: bytes | None
    """None if there is no file."""
    after: bytes | None
    """None if the file is removed."""

    def diff(self) -> str:
        """A unified diff with three lines of context."""
        old, new = ((side or b"").decode(errors="replace") for side in (self.before, self.after))
        lines = list(unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3))
        return "\n".join(lines[2:])


class _Undo(Struct, frozen=True):
    """A record in pinfold's home until the hook is taken out."""

    path: str
    before: str | None
    """Base64."""
    after: str
    """SHA-256."""


def command(project: Path | None) -> str:
    """What the agent runs. In a project's settings, which others share, pinfold is found by its
    name; without pinfold nothing happens."""
    started = Path(sys.argv[0])
    if project is not None:
        program = "pinfold"
    elif started.name == "pinfold" and (found := shutil.which(str(started))):
        program = shlex.quote(str(Path(found).absolute()))
    else:
        program = f"{shlex.quote(sys.executable)} -m pinfold"
    return f"{program} digest --hook || true"


def places(agent: OtherAgent, project: Path | None) -> list[Path]:
    """The files that hooks can be in, the usual one first."""
    folder = agent.settings_folder(project)
    return [folder / agent.file, *([folder / "config.toml"] if agent.name == "codex" else [])]


def found_in(agent: OtherAgent, project: Path | None) -> list[Path]:
    return [path for path in places(agent, project) if _commands(path)]


def is_trusted(agent: OtherAgent, path: Path) -> bool:
    """Whether the agent runs the hook in a file, by its own settings."""
    if agent.name != "codex":
        return True
    with suppress(HookRefused, OSError):
        config = agent.settings_folder(None) / "config.toml"
        hooks = settings_text.toml_value(_text(_read(config))).get("hooks")
        state = hooks.get("state") if isinstance(hooks, dict) else None
        return isinstance(state, dict) and any(
            key.startswith(f"{path}:") and isinstance(kept, dict) and "trusted_hash" in kept
            for key, kept in state.items()
        )
    return False


def installing(agent: OtherAgent, project: Path | None) -> SettingsChange:
    """Raises `HookRefused`, `OSError`."""
    path = _target(agent, project)
    before = _read(path)
    put = settings_text.toml_with_hook if path.suffix == ".toml" else settings_text.with_hook
    with _naming(path):
        after = put(_text(before), command(project))
    return SettingsChange(path, before, after.encode())


def removing(path: Path) -> SettingsChange:
    """Raises `HookRefused`, `OSError`."""
    before = _read(path)
    assert before is not None
    undo = _undo(path)
    if undo is not None and hashlib.sha256(before).hexdigest() == undo.after:
        return SettingsChange(
            path, before, None if undo.before is None else base64.b64decode(undo.before)
        )
    take = settings_text.toml_without_hook if path.suffix == ".toml" else settings_text.without_hook
    with _naming(path):
        after = take(_text(before))
    return SettingsChange(path, before, after.encode())


def apply(change: SettingsChange, *, remember: bool) -> None:
    """Write the change, if the file is still what it was; with `remember`, so that it can be undone
    to the byte. Raises `HookRefused`, `OSError`."""
    if _read(change.path) != change.before:
        raise HookRefused(f"{paths.shown(change.path)} has changed meanwhile; nothing was written.")
    record = _record(change.path)
    if remember and change.after is not None:
        before = None if change.before is None else base64.b64encode(change.before).decode()
        after = hashlib.sha256(change.after).hexdigest()
        atomic_files.make_folder(record.parent)
        atomic_files.write_atomic(
            record, msgspec.json.encode(_Undo(str(change.path), before, after))
        )
    _write(change.path, change.after)
    if not remember:
        with suppress(OSError):
            record.unlink(missing_ok=True)


def wishes(agent: OtherAgent, project: Path | None) -> Iterator[str]:
    """What else the agent needs before it runs the hook, in a sentence each."""
    if agent.name == "claude":
        for place in dict.fromkeys((None, project)):
            path = agent.settings_folder(place) / agent.file
            with suppress(HookRefused, OSError):
                if settings_text.json_value(_text(_read(path))).get("disableAllHooks"):
                    yield f"{paths.shown(path)} turns hooks off: remove `disableAllHooks` there."
        return
    for place in dict.fromkeys((None, project)):
        path = agent.settings_folder(place) / "config.toml"
        with suppress(HookRefused, OSError):
            features = settings_text.toml_value(_text(_read(path))).get("features")
            names = ("hooks", "codex_hooks")
            if isinstance(features, dict) and any(features.get(name) is False for name in names):
                yield (
                    f"{paths.shown(path)} turns hooks off: set `hooks = true` under [features] "
                    "there."
                )
    yield (
        "Codex runs a new hook only once you trust it: it asks the next time it starts, and "
        "`/hooks` shows it."
    )


def _target(agent: OtherAgent, project: Path | None) -> Path:
    """The file that has hooks already, so that the agent need not read two; else the usual one."""
    usual, *others = places(agent, project)
    for path in others:
        if usual.exists() or not path.exists():
            continue
        with _naming(path):
            hooks = settings_text.toml_value(_text(_read(path))).get("hooks")
        if isinstance(hooks, dict) and any(isinstance(groups, list) for groups in hooks.values()):
            return path
    return usual


def _commands(path: Path) -> list[str]:
    with suppress(HookRefused, OSError):
        read = settings_text.toml_value if path.suffix == ".toml" else settings_text.json_value
        return settings_text.commands(read(_text(_read(path))))
    return []


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Prefixes errors with the file's name."""
    try:
        yield
    except HookRefused as error:
        raise HookRefused(f"{paths.shown(path)} was not changed: {error}.") from error


def _read(path: Path) -> bytes | None:
    try:
        return small_files.read(path, _MOST)
    except FileNotFoundError:
        return None


def _text(content: bytes | None) -> str:
    try:
        return (content or b"").decode()
    except UnicodeDecodeError as error:
        raise HookRefused("it is not UTF-8 text") from error


def _write(path: Path, content: bytes | None) -> None:
    """Writes through links, and keeps the file's mode."""
    path = path.resolve()
    if content is None:
        path.unlink(missing_ok=True)
        return
    atomic_files.make_folder(path.parent)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
    atomic_files.write_atomic(path, content, mode)


def _record(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]
    return paths.home() / "hooks" / f"{name}.json"


def _undo(path: Path) -> _Undo | None:
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(small_files.read(_record(path), 2 * _MOST), type=_Undo)
    return None
