"""A screen above the shell that gets all keys."""

from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.screen import ModalScreen, ScreenResultType

from pinfold.tui.keys import bindings

LEAVE = [binding for binding in bindings("prompt", prefix="app.") if binding.id == "leave"]
"""Interrupts the turn there too; at rest it is Esc."""


class Modal(ModalScreen[ScreenResultType]):
    """The base of every panel."""

    CSS_PATH = Path(__file__).with_name("panels.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [*LEAVE]
