"""Where text is written."""

from typing import ClassVar

from textual.binding import BindingType
from textual.document._document import Location
from textual.widgets import TextArea

from pinfold.tui.keys import bindings


class Writing(TextArea):
    """A text area whose cursor does not blink, and where a line ends at its newline only.

    Undo has its own key, as Ctrl+Z suspends.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        binding for binding in bindings("prompt") if binding.id == "undo_typing"
    ]

    def on_mount(self) -> None:
        self.cursor_blink = False

    # Textual's go to the ends of the row on the screen: Ctrl+U would leave the start of a long
    # command there, to run with what is typed next.

    def get_cursor_line_start_location(self, smart_home: bool = False) -> Location:  # noqa: ARG002
        """The start of the cursor's line, however many rows it takes."""
        return self.cursor_location[0], 0

    def get_cursor_line_end_location(self) -> Location:
        """The end of the cursor's line, however many rows it takes."""
        row = self.cursor_location[0]
        return row, len(self.document.get_line(row))

    def action_undo_typing(self) -> None:
        self.undo()
