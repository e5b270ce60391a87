"""What the host knows of the machine and of the project's tools: `env` of `session.json`."""

import json
import os
import platform
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pinfold.paths import repository_root
from pinfold.sanitize import one_line
from pinfold.small_files import head

_MAX_BYTES = 65_536
_MAX_VERSION = 40
_NAMES = {"nodejs": "node", "golang": "go"}
"""As version managers call them."""


def env_of(cwd: Path) -> dict[str, str]:
    """System, the project's toolchain, and the working directory."""
    return {
        "os": _system(),
        "toolchain": toolchain(cwd),
        "cwd": os.fsencode(cwd).decode("utf-8", "replace"),
    }


def toolchain(cwd: Path) -> str:
    """`python 3.12, rust stable`, as the files of the project tell; nothing is run for it."""
    root = repository_root(cwd) or cwd
    found: dict[str, str] = {}
    for folder in dict.fromkeys((cwd, root)):
        for name, version in _versions(folder, root):
            known = _NAMES.get(name, name)
            found[known] = found.get(known) or _brief(version)
    return ", ".join(f"{name} {version}".strip() for name, version in sorted(found.items()))


def _system() -> str:
    match platform.system():
        case "Linux":
            try:
                name = platform.freedesktop_os_release()["PRETTY_NAME"]
            except (OSError, KeyError):
                name = f"Linux {platform.release()}"
        case "Darwin":
            name = f"macOS {platform.mac_ver()[0]}"
        case other:
            name = f"{other} {platform.release()}"
    return f"{name} {platform.machine()}"


def _versions(folder: Path, root: Path) -> Iterator[tuple[str, str]]:
    """Names and versions, the pinned ones first; no version where a file tells none."""
    for line in (_file_head(folder / ".tool-versions", root) or "").splitlines():
        words = line.split("#")[0].split()
        if len(words) > 1:
            yield words[0], words[1]
    for path in sorted(folder.glob(".*-version")):
        if (text := _file_head(path, root)) is not None:
            yield path.name[1:].removesuffix("-version"), text
    for file, (name, version) in _FILES.items():
        if (text := _file_head(folder / file, root)) is not None:
            yield name, version(text)


def _file_head(path: Path, root: Path) -> str | None:
    """The beginning of a regular file inside of `root`."""
    try:
        real = path.resolve()
        if not real.is_relative_to(root.resolve()):
            return None
        return head(real, _MAX_BYTES).decode("utf-8", "replace").strip()
    except (OSError, RuntimeError):  # a ring of links is a RuntimeError
        return None


def _brief(text: str) -> str:
    line = one_line(text.partition("\n")[0])
    return line if len(line) <= _MAX_VERSION else line[: _MAX_VERSION - 1] + "…"


def _toml(*paths: tuple[str, ...]) -> Callable[[str], str]:
    return lambda text: _text_at(tomllib.loads, text, paths)


def _json(*paths: tuple[str, ...]) -> Callable[[str], str]:
    return lambda text: _text_at(json.loads, text, paths)


def _text_at(parse: Callable[[str], Any], text: str, paths: tuple[tuple[str, ...], ...]) -> str:
    """The first text that is at one of the paths."""
    try:
        whole = parse(text)
    except (ValueError, RecursionError):
        return ""
    for path in paths:
        found = whole
        for key in path:
            found = found.get(key) if isinstance(found, Mapping) else None
        if isinstance(found, str):
            return found
    return ""


def _go_version(text: str) -> str:
    lines = (line.split() for line in text.splitlines())
    return next((words[1] for words in lines if words[:1] == ["go"] and len(words) > 1), "")


_FILES: dict[str, tuple[str, Callable[[str], str]]] = {
    ".nvmrc": ("node", str),
    "rust-toolchain": ("rust", str),
    "rust-toolchain.toml": ("rust", _toml(("toolchain", "channel"))),
    "Cargo.toml": (
        "rust",
        _toml(("package", "rust-version"), ("workspace", "package", "rust-version")),
    ),
    "go.mod": ("go", _go_version),
    "package.json": ("node", _json(("engines", "node"))),
    "pyproject.toml": ("python", _toml(("project", "requires-python"))),
}
