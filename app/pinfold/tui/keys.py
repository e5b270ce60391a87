"""Key bindings, made from the registry of actions so that `[keys]` in the config remaps them."""

from textual.binding import Binding

from pinfold.commands.action import Action
from pinfold.commands.registry import ACTIONS


def bindings(*groups: str, prefix: str = "") -> list[Binding]:
    """Bindings for the actions of `groups` that the widget itself carries out."""
    return [
        Binding(action.keys, f"{prefix}{action.id}", action.title, show=False, id=action.id)
        for action in ACTIONS
        if action.keys and action.run is None and action.group in groups
    ]


def command_bindings() -> list[Binding]:
    """Bindings for the actions that are commands."""
    return [
        Binding(
            action.keys,
            f"run_command('{action.id}')",
            action.title,
            show=False,
            priority=True,
            id=action.id,
        )
        for action in ACTIONS
        if action.keys and action.run is not None
    ]


def shown(action: Action, keymap: dict[str, str]) -> str:
    """The keys of `action` for people: `Ctrl+J or Alt+Enter`."""
    keys = keymap.get(action.id, action.keys)
    return " or ".join(_name(key.strip()) for key in keys.split(",")) if keys else ""


def _name(key: str) -> str:
    short = {"escape": "Esc", "pageup": "PgUp", "pagedown": "PgDn", "up": "↑", "down": "↓"}
    parts = key.split("+")
    return "+".join(short.get(part, part if len(part) == 1 == len(parts) else part.capitalize()) for part in parts)
