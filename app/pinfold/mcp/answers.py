"""The user's answers about servers, with what each server offered at the time."""

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pinfold.atomic_files import make_folder, write_atomic
from pinfold.mcp.definition import Definition, filled, folder_of
from pinfold.mcp.offers import Offer, digest
from pinfold.small_files import read

MAX_BYTES = 64_000_000
MOST_FILE = 256_000_000
"""Bytes of a file that a command line names."""
MOST_FILES = 2_000
"""Files of one folder that is run as a program."""
PROGRAM = ("__main__.py", "__init__.py", "pyproject.toml", "package.json", "index.js")
"""A folder with one of them is run as a program where a command line names it."""
NOT_OURS = frozenset({".git", "__pycache__", "node_modules", ".venv"})
"""Folders in it that do not count: too many files, or they change by themselves."""
MOST_NAMES = 5_000
"""Words of a command line that may name a file."""
_BETWEEN = re.compile(r"[\s=@:,;&|()<>'\"`]+")


class ServerConsent(Struct, frozen=True):
    """What was accepted of one server."""

    start: str = ""
    """The hash of what was started; empty where that was never asked."""
    about: str = ""
    """What that was, in lines, for a diff."""
    texts: str = ""
    """The hash of what it offered."""
    offer: Offer = Offer()
    unsendable: tuple[str, ...] = ()
    """As in `ServerState`."""
    refused: str = ""
    """The hash of what the user last said no to."""


class Answers:
    """One file for each server, in the user's state folder."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        self._folder = folder
        self._workspace = workspace

    def read(self, definition: Definition) -> ServerConsent:
        """What was accepted; an empty answer where there is none. Blocking."""
        try:
            content = read(self._path(definition), MAX_BYTES)
            return msgspec.json.decode(content, type=ServerConsent)
        except (OSError, ValueError, RecursionError):
            return ServerConsent()

    def write(self, definition: Definition, answer: ServerConsent) -> None:
        """Blocking. Raises `OSError`."""
        make_folder(self._folder)
        write_atomic(self._path(definition), msgspec.json.encode(answer))

    def forget(self, definition: Definition) -> None:
        """Blocking."""
        with suppress(OSError):
            self._path(definition).unlink()

    def _path(self, definition: Definition) -> Path:
        return self._folder / f"{definition.key(self._workspace)}.json"


def start_hash(
    definition: Definition, workspace: Path, env: Mapping[str, str], *, confined: bool
) -> str:
    """Of how it is started, and whether in a sandbox, with the bytes of every file of the
    workspace that its command line names. Blocking."""
    named = {str(path): _content(path) for path in named_files(definition, workspace, env)}
    return digest([msgspec.to_builtins(definition.how), confined, named])


def named_files(definition: Definition, workspace: Path, env: Mapping[str, str]) -> list[Path]:
    """The files of the workspace that a command line names, by itself or within a word, such as
    `--config=x.json` and `sh -c "exec ./run"`; of a folder that is a program, and of `-m package`,
    those within. Blocking."""
    folder = folder_of(replace(definition, cwd=filled(definition.cwd, env)), workspace)
    texts: dict[str, None] = {}
    before = ""
    for given in (definition.command, *definition.args):
        word = filled(given, env)
        texts |= dict.fromkeys((word, *_BETWEEN.split(word)))
        module = word if before == "-m" else word[2:] if word.startswith("-m") else ""
        package = module.partition(".")[0]
        texts |= dict.fromkeys((package, f"{package}.py") if package else ())
        before = word
    found: set[Path] = set()
    for text in list(filter(None, texts))[:MOST_NAMES]:
        try:
            path = (folder / text).resolve()
            if not path.is_relative_to(workspace):
                continue
            if path.is_file():
                found.add(path)
            elif path.is_dir():
                found |= _program(path, workspace)
        except (OSError, ValueError, RuntimeError):
            continue
    return sorted(found)


def _program(folder: Path, workspace: Path) -> set[Path]:
    """The files of a folder that is a program; of the workspace itself, which changes all the
    time, only those that say what runs."""
    entries = {folder / name for name in PROGRAM if (folder / name).is_file()}
    if not entries or folder == workspace:
        return entries
    found: set[Path] = set(entries)
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - NOT_OURS)
        for name in sorted(names):
            if len(found) >= MOST_FILES:
                return found
            if (path := Path(top, name)).is_file():
                found.add(path)
    return found


def _content(path: Path) -> str:
    try:
        with path.open("rb") as file:
            if path.stat().st_size > MOST_FILE:
                return "too large"
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"unreadable: {error.errno}"
