"""The one registry of actions."""

import re
from importlib import import_module

from pinfold.commands.action import Action
from pinfold.commands.arguments import CommandError

_MODULES = (
    "session",
    "status",
    "rewind",
    "export",
    "model",
    "window",
    "compact",
    "history",
    "init",
    "jobs",
    "agents",
    "race",
    "mcp",
    "memories",
    "skills",
    "screen",
)
"""Modules with `ACTIONS`, in the order of the help."""

ACTIONS: tuple[Action, ...] = tuple(
    action for name in _MODULES for action in import_module(f"pinfold.commands.{name}").ACTIONS
)
USUAL = (
    "compact",
    "context",
    "new",
    "resume",
    "model",
    "approvals",
    "diff",
    "find",
    "agents",
    "review",
    "rewind",
    "undo",
    "status",
    "cost",
    "fork",
    "pin",
    "goal",
    "mcp",
    "skills",
    "adopt",
    "help",
)
"""Commands at the top of the list until the user has used some."""
BY_ID = {action.id: action for action in ACTIONS}
BY_SLASH = {name: action for action in ACTIONS for name in action.slash}

_COMMAND = re.compile(r"/([a-z][\w:-]*)(?:\s+(.*))?\Z", re.DOTALL)


def parse(text: str) -> tuple[Action, str] | None:
    """The action and argument of a `/command`; None if `text` is not a command.

    Raises `CommandError` for an unknown one; it suggests the nearest.
    """
    match = _COMMAND.match(text.strip()) if text.startswith("/") else None
    if match is None:
        return None
    name, argument = match[1], (match[2] or "").strip()
    action = BY_SLASH.get(name)
    if action is not None:
        return action, argument
    from difflib import get_close_matches

    near = get_close_matches(name, BY_SLASH, n=1, cutoff=0.5)
    hint = f"Did you mean /{near[0]}?" if near else "/help lists them."
    raise CommandError(f"There is no command /{name}. {hint} A space before / sends it as text.")
