"""The text that a compaction inserts, to be edited."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from pinfold.sanitize import clean
from pinfold.tui.panels.modal import Modal
from pinfold.tui.writing import Writing


class TextPanel(Modal[str | None]):
    """Its result is the text as the user has it, or None where nothing is to change."""

    CSS_PATH = "panels.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False, priority=True),
        Binding("ctrl+s", "save", show=False, priority=True),
    ]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._before = clean(text)
        self._area = Writing(self._before, soft_wrap=True)

    def compose(self) -> ComposeResult:
        self._area.add_class("panel", "full")
        self._area.border_title = "Text to insert"
        self._area.border_subtitle = "Ctrl+S saves · Esc closes"
        yield self._area

    def on_mount(self) -> None:
        self._area.focus()

    def action_save(self) -> None:
        text = self._area.text
        self.dismiss(text if text != self._before else None)
