"""What a call of Claude Code's own tools touched."""

from collections.abc import Mapping
from typing import Any

from pinfold.adopt.artifacts import Op, Touched
from pinfold.adopt.artifacts import command as ran
from pinfold.adopt.artifacts import file as seen

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


def touched(tool: str, arguments: Mapping[str, Any], cwd: str, *, ok: bool) -> Touched | None:
    """The artifact that the call touched, if it is certain which; `ok` is whether it went well."""
    if tool == "Bash":
        command = arguments.get("command")
        return ran(command) if isinstance(command, str) else None
    if tool == "str_replace_based_edit_tool":
        named, op = arguments.get("path"), _EDITOR.get(str(arguments.get("command")))
    else:
        argument, op = _FILE_TOOLS.get(tool, ("", None))
        named = arguments.get(argument)
    if op is None or not ok or not isinstance(named, str) or not named:
        return None
    return seen(named, op, cwd)
