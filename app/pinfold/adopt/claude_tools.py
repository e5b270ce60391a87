"""What a call of Claude Code's own tools touched."""

from collections.abc import Mapping
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from posixpath import normpath
from typing import Any, Literal, NamedTuple

Op = Literal["read", "create", "update", "run"]

_FILE_TOOLS: dict[str, tuple[str, Op]] = {
    "Read": ("file_path", "read"),
    "NotebookRead": ("notebook_path", "read"),
    "Edit": ("file_path", "update"),
    "MultiEdit": ("file_path", "update"),
    "NotebookEdit": ("notebook_path", "update"),
    "Write": ("file_path", "create"),
}
"""Which argument names the file. Grep and Glob are not here: what they name may be a folder."""

_EDITOR: dict[str, Op] = {
    "view": "read",
    "create": "create",
    "str_replace": "update",
    "insert": "update",
}
"""What each command of `str_replace_based_edit_tool` does."""


class Touched(NamedTuple):
    uri: str
    kind: Literal["file", "command"]
    op: Op


def touched(tool: str, arguments: Mapping[str, Any], cwd: str, *, ok: bool) -> Touched | None:
    """The artifact that the call touched, if it is certain which; `ok` is whether it went well."""
    if tool == "Bash":
        command = arguments.get("command")
        return Touched(f"cmd:{command}", "command", "run") if isinstance(command, str) else None
    if tool == "str_replace_based_edit_tool":
        named, op = arguments.get("path"), _EDITOR.get(str(arguments.get("command")))
    else:
        argument, op = _FILE_TOOLS.get(tool, ("", None))
        named = arguments.get(argument)
    if op is None or not ok or not isinstance(named, str) or not named:
        return None
    return Touched(_uri(named, cwd), "file", op)


def _uri(path: str, cwd: str) -> str:
    """Relative to the working directory; absolute outside it."""
    flavour: type[PurePath] = PureWindowsPath if PureWindowsPath(cwd).drive else PurePosixPath
    whole = flavour(normpath((flavour(cwd) / path).as_posix()))
    return (whole.relative_to(cwd) if whole.is_relative_to(cwd) else whole).as_posix()
