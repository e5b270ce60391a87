"""Calls in lists of messages, whose tools anyone may have named: told by their arguments."""

from typing import Any

from pinfold.adopt.changes import Part, edited, signed
from pinfold.adopt.codex_acts import Acts
from pinfold.adopt.codex_tools import arguments_of, command_of
from pinfold.adopt.lines import text_of
from pinfold.rollout.acts import EDITORS

_PATHS = ("path", "file_path", "filename")
_BEFORE = ("old_string", "old_str")
_AFTER = ("new_string", "new_str", "content", "file_text", "insert_text")


def detail_of(acts: Acts, name: str, arguments: str, output: str) -> dict[str, Any]:
    """The detail of a result: by Codex's names, else what its arguments can only mean, else
    by the names that tools for edits have."""
    detail = acts.detail(name, arguments, output, "")
    if detail["act"] != "read":
        return detail
    given = arguments_of(arguments)
    path = _first(given, _PATHS)
    bodies = [key for key in (*_BEFORE, *_AFTER) if isinstance(given.get(key), str)]
    if path and bodies:
        part = Part(path, signed(_first(given, _BEFORE), _first(given, _AFTER)))
        return {**detail, **edited([path], [part] if part.lines else [], bodies=bodies)}
    if name.lower() in EDITORS:
        return {**detail, **edited([path] if path else [], bodies=bodies)}
    if not path and (command := command_of(given)):
        return {**detail, "act": "command", "command": command}
    return detail


def _first(given: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((text for key in keys if (text := text_of(given, key))), "")
