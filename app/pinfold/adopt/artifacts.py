"""What another tool's call touched, named as the journal names it."""

from pathlib import PurePath, PurePosixPath, PureWindowsPath
from posixpath import normpath
from typing import Literal, NamedTuple

Op = Literal["read", "create", "update", "delete", "run"]


class Touched(NamedTuple):
    """An artifact, and what was done with it."""

    uri: str
    kind: Literal["file", "command"]
    op: Op


def command(text: str) -> Touched:
    return Touched(f"cmd:{text}", "command", "run")


def file(path: str, op: Op, cwd: str, base: str = "") -> Touched:
    """A file, named relative to the folder `base`; the URI is relative to `cwd`, absolute outside
    it."""
    flavour: type[PurePath] = PureWindowsPath if PureWindowsPath(cwd).drive else PurePosixPath
    whole = flavour(normpath((flavour(cwd) / base / path).as_posix()))
    inside = whole != flavour(cwd) and whole.is_relative_to(cwd)
    return Touched((whole.relative_to(cwd) if inside else whole).as_posix(), "file", op)
