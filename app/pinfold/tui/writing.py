"""Where text is written."""

from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import TextArea

from pinfold.tui.keys import bindings


class Writing(TextArea):
    """A text area whose cursor does not blink; undo has its own key, as Ctrl+Z suspends."""

    BINDINGS: ClassVar[list[BindingType]] = [
        binding for binding in bindings("prompt") if binding.id == "undo_typing"
    ]

    def on_mount(self) -> None:
        self.cursor_blink = False

    def action_undo_typing(self) -> None:
        self.undo()
