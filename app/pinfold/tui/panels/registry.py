"""Every panel: each is a module of this package that has a `PANEL`."""

from collections.abc import Callable, Coroutine, Iterator, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple

from textual.binding import Binding
from textual.screen import Screen

from pinfold.tui.panels.host import PanelHost


class Panel(NamedTuple):
    """What the help, `[keys]` and `open_panel` know of a panel."""

    place: str
    """Where its keys work, as a heading of the help."""
    keys: Sequence[Binding]
    factory: Callable[[PanelHost, str], Screen[Any] | Coroutine[Any, Any, None]]
    """Makes it; or a coroutine that does, and then acts on its result. The text is an argument."""


def panel(name: str) -> Panel:
    """The panel of the module `name`."""
    found: Panel = import_module(f"{__package__}.{name}").PANEL
    return found


def every_panel() -> Iterator[Panel]:
    """All of them, by name; this imports them all."""
    assert __package__
    for module in iter_modules(import_module(__package__).__path__):
        loaded = import_module(f"{__package__}.{module.name}")
        if hasattr(loaded, "PANEL"):
            yield panel(module.name)


def open_panel(host: PanelHost, name: str, argument: str = "") -> None:
    """Put a panel on top, unless it is there."""
    made = panel(name).factory(host, argument)
    if not isinstance(made, Screen):
        host.attempt(made)
    elif type(made) is not type(host.screen):
        host.push_screen(made)
