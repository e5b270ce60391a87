"""Every panel: each is a module of this package that has a `PANEL`."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NamedTuple

from textual.binding import Binding
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen

from pinfold.tui.panels.host import PanelHost

STYLES = str(Path(__file__).with_name("panels.tcss"))


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


async def make_ready(styles: Stylesheet) -> None:
    """Import them all in a thread, and read their style sheet."""
    await asyncio.to_thread(lambda: [*every_panel()])
    if not styles.has_source(STYLES):
        styles.read(STYLES)
        styles.parse()


def open_panel(host: PanelHost, name: str, argument: str = "") -> None:
    """Put a panel on top, unless it is there."""
    made = panel(name).factory(host, argument)
    if not isinstance(made, Screen):
        host.attempt(made)
    elif type(made) is not type(host.screen):
        host.push_screen(made)
