"""A text of several lines to edit."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from pinfold.tui.panels.modal import Modal
from pinfold.tui.writing import Writing


class WritePanel(Modal[str | None]):
    """Its result is the text; None where the user closes it without saving."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", show=False, priority=True),
        Binding("escape", "dismiss(None)", show=False, priority=True),
    ]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._area = Writing(text, soft_wrap=True)

    def compose(self) -> ComposeResult:
        self._area.add_class("panel", "full")
        self._area.border_title = self._title
        self._area.border_subtitle = "Ctrl+S saves · Esc closes"
        yield self._area

    def on_mount(self) -> None:
        self._area.focus()

    def action_save(self) -> None:
        self.dismiss(self._area.text)
