"""What a tool call is about, in a few words, from arguments that may still be coming."""

import json
import re

from pinfold.sanitize import one_line

_SUBJECTS = ("command", "pattern", "path", "file_path", "query", "url", "patch", "input")
_SUBJECT = re.compile(rf'"({"|".join(_SUBJECTS)})"\s*:\s*"((?:[^"\\]|\\.)*)')
_PATCHED = re.compile(r"\*\*\* (?:Add|Update|Delete) File: (.+)")
_SCAN = 4_000
"""Characters of arguments that are looked at."""


def _unquote(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def title_of(arguments: str) -> str:
    """The command, path or pattern of a call, on one line."""
    found = {key: _unquote(value) for key, value in _SUBJECT.findall(arguments[:_SCAN])}
    for key in _SUBJECTS:
        value = found.get(key, "")
        if not value:
            continue
        if key == "command":
            return f"$ {one_line(value)}"
        if key in ("patch", "input") and (files := _PATCHED.findall(value)):
            return one_line(", ".join(files))
        where = found.get("path", "") if key == "pattern" else ""
        return one_line(f"{value} in {where}" if where else value)
    return ""
