"""Calls in lists of messages, whose tools anyone may have named: told by their arguments."""

from typing import Any

from pinfold.adopt.changes import Part, edited, signed
from pinfold.adopt.codex_acts import Acts
from pinfold.adopt.codex_tools import arguments_of, command_of
from pinfold.adopt.lines import text_of

_PATHS = ("path", "file_path", "filename")
_BEFORE = ("old_string", "old_str")
_AFTER = ("new_string", "new_str", "content", "file_text", "insert_text")


def detail_of(acts: Acts, name: str, arguments: str, output: str) -> dict[str, Any]:
    """The detail of a result: by Codex's names, else what its arguments can only mean."""
    detail = acts.detail(name, arguments, output, "")
    if detail["act"] != "read":
        return detail
    given = arguments_of(arguments)
    path = _first(given, _PATHS)
    if path and any(isinstance(given.get(key), str) for key in (*_BEFORE, *_AFTER)):
        part = Part(path, signed(_first(given, _BEFORE), _first(given, _AFTER)))
        bodies = [key for key in (*_BEFORE, *_AFTER) if key in given]
        return {**detail, **edited([path], [part] if part.lines else [], bodies=bodies)}
    if not path and (command := command_of(given)):
        return {**detail, "act": "command", "command": command}
    return detail


def _first(given: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((text for key in keys if (text := text_of(given, key))), "")
