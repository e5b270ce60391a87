"""Folders of small files as values: relative path to bytes. Links are never followed."""

import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from pinfold.atomic_files import make_folder, write_atomic
from pinfold.memories.places import EXTENSIONS, MEMORY, RAW, SKILLS, SUMMARIES, SUMMARY

Tree = dict[str, bytes]

_FOLDERS = (SUMMARIES, SKILLS, EXTENSIONS)
_FILES = (MEMORY, SUMMARY, RAW)
MAX_FILE = 2_000_000
"""Bytes; larger files are ignored."""
MAX_FILES = 5_000


def read(folder: Path) -> Tree:
    """The memory files in a folder. Links and other files are left out. Raises `OSError`."""
    found: Tree = {}
    every = [*_FILES, *(name for inner in _FOLDERS for name in names(folder, inner))]
    for name in every[:MAX_FILES]:
        _take(folder, name, found)
    return found


def names(folder: Path, inner: str) -> list[str]:
    """The regular files at any depth of `folder/inner`, relative to `folder`."""
    try:
        if stat.S_ISREG(mode := (folder / inner).lstat().st_mode):
            return [inner]
        if not stat.S_ISDIR(mode):
            return []
        entries = sorted(os.listdir(folder / inner))  # noqa: PTH208  names alone
    except FileNotFoundError:
        return []
    return [
        name
        for entry in entries
        if not entry.startswith(".") and entry.isprintable()
        for name in names(folder, f"{inner}/{entry}")
    ]


def _take(root: Path, name: str, found: Tree) -> None:
    try:
        fd = os.open(root / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        if (root / name).is_symlink():
            return
        raise
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_FILE:
            found[name] = file.read(MAX_FILE)


def write(folder: Path, tree: Mapping[str, bytes]) -> None:
    """Write files into a new folder. Raises `OSError`."""
    make_folder(folder)
    for name, data in tree.items():
        put(folder, name, data)


def put(folder: Path, name: str, data: bytes) -> None:
    """Write one file, unless it has that content already. Links in its path are replaced, not
    followed. Raises `OSError`."""
    make_folder(folder)
    at = folder
    for part in Path(name).parts[:-1]:
        at /= part
        if at.is_symlink() or (at.exists() and not at.is_dir()):
            at.unlink()
        make_folder(at)
    path = folder / name
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    if path.is_symlink() or not path.is_file() or path.read_bytes() != data:
        write_atomic(path, data)


def remove(folder: Path, name: str) -> None:
    """Remove one file, and folders that are empty then. Raises `OSError`."""
    path = folder / name
    path.unlink(missing_ok=True)
    for parent in path.parents:
        if parent == folder or any(parent.iterdir()):
            break
        parent.rmdir()


def drop(folder: Path) -> None:
    """Remove a folder and its contents, if it exists."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def fresh(folder: Path, parts: Mapping[str, Tree], marker: tuple[str, bytes]) -> None:
    """Replace a folder by one with these subfolders. An interrupted call leaves none.

    `marker` is written last, and readers look for it first. Raises `OSError`.
    """
    made = folder.with_name(f"{folder.name}.tmp")
    drop(made)
    make_folder(made)
    for name, tree in parts.items():
        write(made / name, tree)
    write_atomic(made / marker[0], marker[1])
    retire(folder, marker[0])
    made.rename(folder)


def retire(folder: Path, marker: str) -> None:
    """Remove a folder that `fresh` made, its marker first."""
    (folder / marker).unlink(missing_ok=True)
    drop(folder)


def text(data: bytes) -> str | None:
    """The text of a file; None if it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
