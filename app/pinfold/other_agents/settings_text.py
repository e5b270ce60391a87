"""Puts pinfold's hook into the text of an agent's settings, and takes it out; the rest stays."""

import json
import tomllib
from collections.abc import Iterator
from typing import Any

from pinfold.other_agents import json_text
from pinfold.other_agents.agents import HookRefused
from pinfold.other_agents.json_text import JsonNode, NotJson

EVENT, MATCHER = "SessionStart", "compact"
TIMEOUT = 10
"""Seconds after which the agent gives up; the hook itself gives up long before."""
_MARK = "digest --hook"
"""A part of each command of ours."""


def group(command: str) -> dict[str, Any]:
    """The hook, as Claude Code and Codex take it."""
    hook = {"type": "command", "command": command, "timeout": TIMEOUT}
    return {"matcher": MATCHER, "hooks": [hook]}


def commands(value: Any) -> list[str]:
    """Our commands in settings."""
    return [hook["command"] for _, _, hook in _ours(value)]


def json_value(text: str) -> dict[str, Any]:
    """Raises `HookRefused`."""
    value = _parsed(text).value if text.strip() else {}
    assert isinstance(value, dict)
    return value


def with_hook(text: str, command: str) -> str:
    """A JSON text with the hook. Raises `HookRefused`."""
    if not text.strip():
        return json.dumps({"hooks": {EVENT: [group(command)]}}, indent=2) + "\n"
    root = _parsed(text)
    hooks = _member(root, "hooks", "object")
    if hooks is None:
        return json_text.added(text, root, {EVENT: [group(command)]}, "hooks")
    groups = _member(hooks, EVENT, "array")
    if groups is None:
        return json_text.added(text, hooks, [group(command)], EVENT)
    return json_text.added(text, groups, group(command))


def without_hook(text: str) -> str:
    """A JSON text without our hooks and what held only them. Raises `HookRefused`."""
    while found := next(_ours(_parsed(text).value), None):
        at, inner, _ = found
        root = _parsed(text)
        hooks = _member(root, "hooks", "object")
        groups = _member(hooks, EVENT, "array") if hooks else None
        assert hooks is not None
        assert groups is not None
        own = groups.members[at].node.member("hooks")
        assert own is not None
        if len(own.members) > 1:
            text = json_text.removed(text, own, inner)
        elif len(groups.members) > 1:
            text = json_text.removed(text, groups, at)
        elif len(hooks.members) > 1:
            text = json_text.removed(text, hooks, _place(hooks, EVENT))
        else:
            text = json_text.removed(text, root, _place(root, "hooks"))
    return text


def toml_with_hook(text: str, command: str) -> str:
    """A TOML text with the hook at its end. Raises `HookRefused`."""
    block = _block(command)
    made = f"{text}\n{block}\n" if text.endswith("\n") or not text else f"{text}\n\n{block}"
    try:
        found = commands(toml_value(made))
    except HookRefused:
        found = []
    if found != [*commands(toml_value(text)), command]:
        raise HookRefused("its hooks are written in a form that can't be added to")
    return made


def toml_value(text: str) -> dict[str, Any]:
    """Raises `HookRefused`."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise HookRefused(f"it can't be read: {error}") from error


def toml_without_hook(text: str) -> str:
    """A TOML text without the hooks that `toml_with_hook` wrote. Raises `HookRefused`."""
    for command in commands(toml_value(text)):
        block = _block(command)
        left = text.replace(f"\n{block}\n", "", 1)
        if left == text:
            left = text.removesuffix(f"\n\n{block}")
        if left == text:
            raise HookRefused("the hook in it was changed; remove it by hand")
        text = left
    return text


def _block(command: str) -> str:
    return "\n".join(
        [
            f"[[hooks.{EVENT}]]",
            f'matcher = "{MATCHER}"',
            "",
            f"[[hooks.{EVENT}.hooks]]",
            'type = "command"',
            f"command = {json.dumps(command, ensure_ascii=False)}",
            f"timeout = {TIMEOUT}",
        ]
    )


def _ours(value: Any) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Our hooks, each with the index of its group and its index there."""
    hooks = value.get("hooks") if isinstance(value, dict) else None
    groups = hooks.get(EVENT) if isinstance(hooks, dict) else None
    for at, found in enumerate(groups if isinstance(groups, list) else ()):
        own = found.get("hooks") if isinstance(found, dict) else None
        for inner, hook in enumerate(own if isinstance(own, list) else ()):
            if isinstance(hook, dict) and _MARK in str(hook.get("command")):
                yield at, inner, hook


def _parsed(text: str) -> JsonNode:
    try:
        root = json_text.parse(text)
    except NotJson as error:
        raise HookRefused(f"{error}") from error
    if root.kind != "object":
        raise HookRefused("it is not a JSON object")
    return root


def _member(node: JsonNode, key: str, kind: str) -> JsonNode | None:
    found = node.member(key)
    if found is not None and found.kind != kind:
        raise HookRefused(f"its `{key}` is not of type {kind}")
    return found


def _place(node: JsonNode, key: str) -> int:
    return max(at for at, member in enumerate(node.members) if member.key == key)
