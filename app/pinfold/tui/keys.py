"""Key bindings, made from the registry of actions so that `[keys]` in the config remaps them."""

from collections.abc import Collection, Mapping

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.binding import Binding

from pinfold.commands.registry import ACTIONS, BY_ID

# What terminals send for Alt+Enter: Textual would take it for Enter alone.
ANSI_SEQUENCES_KEYS["\x1b\r"] = ANSI_SEQUENCES_KEYS["\n"]  # type: ignore[index]

_NAMES = {
    "escape": "Esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "up": "↑",
    "down": "↓",
    "slash": "/",
    "underscore": "_",
    "minus": "-",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


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


def complaints(keys: Mapping[str, str]) -> list[str]:
    """What is wrong with the user's keys, in sentences."""
    if not keys:
        return []
    from pinfold.tui.panels.registry import every_panel
    from pinfold.tui.transcript.view import Transcript

    panels = (binding for panel in every_panel() for binding in panel.keys)
    own = (*Transcript.BINDINGS, *panels)
    known = {*BY_ID, *(bound.id for bound in own if isinstance(bound, Binding) and bound.id)}
    found = [
        f"[keys]: there is no action “{name}”{_hint(name, known)}" for name in keys.keys() - known
    ]
    # Commands are bound everywhere, so a key of theirs never reaches another action.
    taken = {
        key.strip(): action.id
        for action in ACTIONS
        if action.run is not None
        for key in keys.get(action.id, action.keys).split(",")
        if key
    }
    given = [(name, key.strip()) for name, listed in keys.items() for key in listed.split(",")]
    found += [
        f"[keys]: {key} is the key of “{taken[key]}”, so not of “{name}”."
        for name, key in given
        if taken.get(key, name) != name
    ]
    return found


def _hint(name: str, known: Collection[str]) -> str:
    from pinfold.closest import nearest

    near = nearest(name, known)
    return f"; did you mean “{near}”?" if near else "; /help lists them."


def key_of(own: Mapping[str, str], action: str) -> str:
    """The first key of an action, for people; `own` are the user's own keys, by action."""
    return shown(own.get(action, BY_ID[action].keys).partition(",")[0])


def shown(keys: str) -> str:
    """Keys for people: `Ctrl+J or Alt+Enter`."""
    return " or ".join(_name(key.strip()) for key in keys.split(",")) if keys else ""


def _name(key: str) -> str:
    if len(key) == 1:  # n and N are two keys
        return key
    return "+".join(_NAMES.get(part, part.capitalize()) for part in key.split("+"))
