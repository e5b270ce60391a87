"""Keys of panels: what the help, the foot and `[keys]` say of them is in the binding."""

import re
from typing import Any

from textual.binding import Binding
from textual.screen import Screen

from pinfold.tui.keys import shown


def keys(panel: str, *given: tuple[str, str, str] | tuple[str, str, str, str]) -> list[Binding]:
    """Bindings from keys, an action, what the help says, and what the foot says (if it does).

    In `[keys]` they go by the names of the panel and of the action, or of its argument.
    """
    return [
        Binding(
            key,
            action,
            short[0] if short else "",
            show=bool(short),
            tooltip=title,
            id=f"{panel}.{re.findall(r'[a-z_]+', action)[-1]}",
        )
        for key, action, title, *short in given
    ]


def moves(
    panel: str, up: str = "up,k", down: str = "down,j", home: str = "home,g"
) -> list[Binding]:
    """The keys with which one moves in a table."""
    return [
        Binding(up, "move(-1)", show=False, tooltip="Row above", id=f"{panel}.up"),
        Binding(down, "move(1)", show=False, tooltip="Row below", id=f"{panel}.down"),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding(home, "edge(-1)", show=False, tooltip="First row", id=f"{panel}.home"),
        Binding("end,G", "edge(1)", show=False, tooltip="Last row", id=f"{panel}.end"),
    ]


def own_keys(screen: Screen[Any]) -> dict[str, str]:
    """The first key of each action, as the user has it, for people."""
    found: dict[str, str] = {}
    for key, active in screen.active_bindings.items():
        if active.binding.id:
            found.setdefault(active.binding.id, shown(key))
    return found
