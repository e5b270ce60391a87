"""The keys with which one moves in a list."""

from textual.binding import Binding


def moves(panel: str, up: str = "up", down: str = "down") -> list[Binding]:
    """For the panel whose keys go by that name in `[keys]`."""
    return [
        Binding(up, "move(-1)", "Row above", show=False, id=f"{panel}.up"),
        Binding(down, "move(1)", "Row below", show=False, id=f"{panel}.down"),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home,g", "edge(-1)", "First row", show=False, id=f"{panel}.home"),
        Binding("end,G", "edge(1)", "Last row", show=False, id=f"{panel}.end"),
    ]
