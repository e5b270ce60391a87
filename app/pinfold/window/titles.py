"""The title of a tool call, from arguments that may still be streaming in."""

import json
import re

from pinfold.sanitize import one_line

_SUBJECTS = (
    "command",
    "cmd",
    "pattern",
    "path",
    "file_path",
    "query",
    "url",
    "patch",
    "input",
    "description",
)
_SUBJECT = re.compile(rf'"({"|".join(_SUBJECTS)})"\s*:\s*"((?:[^"\\]|\\.)*)')
_ARGV = re.compile(r'"(?:command|cmd)"\s*:\s*\[((?:\s*"(?:[^"\\]|\\.)*",?)*)')
_FOREIGN = re.compile(r'"(server|tool)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PATCHED = re.compile(r"\*\*\* (?:Add|Update|Delete) File: (.+)")
_SCAN = 4_000
"""Characters of arguments that are read."""


def _unquote(text: str) -> str:
    if "\\" not in text:
        return text
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def title_of(arguments: str) -> str:
    """The command, path or pattern of a call, on one line; the tool of a server that it calls."""
    called = {key: _unquote(value) for key, value in reversed(_FOREIGN.findall(arguments[:_SCAN]))}
    if len(called) < 2:
        return _subject(arguments)
    tool = one_line(f"{called['tool']} of {called['server']}")
    subject = _subject(arguments)
    return f"{tool}: {subject}" if subject else tool


def _subject(arguments: str) -> str:
    found = {key: _unquote(value) for key, value in _SUBJECT.findall(arguments[:_SCAN])}
    if argv := _ARGV.search(arguments[:_SCAN]):
        words = [_unquote(word) for word in _WORD.findall(argv[1])]
        inside = words[1:2] in (["-c"], ["-lc"]) and words[2:]
        found["command"] = " ".join(inside or words)
    for key in _SUBJECTS:
        value = found.get(key, "")
        if not value:
            continue
        if key in ("command", "cmd"):
            return f"$ {one_line(value)}"
        if key in ("patch", "input") and (files := _PATCHED.findall(value)):
            return one_line(", ".join(files))
        where = found.get("path", "") if key == "pattern" else ""
        return one_line(f"{value} in {where}" if where else value)
    return ""
