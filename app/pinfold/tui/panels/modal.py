"""What stands over the shell and has all keys."""

from typing import ClassVar

from textual.binding import BindingType
from textual.screen import ModalScreen, ScreenResultType

from pinfold.tui.keys import bindings

LEAVE = [binding for binding in bindings("prompt", prefix="app.") if binding.id == "leave"]
"""Interrupts the turn there too; at rest it is Esc."""


class Modal(ModalScreen[ScreenResultType]):
    """The base of every panel."""

    BINDINGS: ClassVar[list[BindingType]] = [*LEAVE]
