"""Where the user writes in a card: a word to the model, or the call itself."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea


class Answer(TextArea):
    """Ctrl+S is done, Esc goes back; Enter is done too where one line is expected."""

    DEFAULT_CSS = """
    Answer {
        height: auto;
        min-height: 1;
        max-height: 40vh;
        background: $surface;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "done", show=False),
        Binding("escape", "back", show=False),
        Binding("ctrl+j", "newline", show=False),
    ]

    class Done(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The user went back."""

    def __init__(self, text: str, *, one_line: bool, placeholder: str = "") -> None:
        super().__init__(text, placeholder=placeholder, compact=True, highlight_cursor_line=False)
        self.cursor_blink = False
        self._one_line = one_line

    def on_mount(self) -> None:
        self.move_cursor(self.document.end)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter" and self._one_line:
            event.stop()
            event.prevent_default()
            self.action_done()

    def action_done(self) -> None:
        self.post_message(self.Done(self.text))

    def action_back(self) -> None:
        self.post_message(self.Left())

    def action_newline(self) -> None:
        self._replace_via_keyboard("\n", *self.selection)
