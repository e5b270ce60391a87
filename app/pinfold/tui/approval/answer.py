"""The input of a card: a reason for the model, or the edited call."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from pinfold.rollout import provenance
from pinfold.tui.in_order import act_at_once
from pinfold.tui.writing import Writing


class Answer(Writing):
    """Ctrl+S submits, Esc closes; Enter submits too where one line is expected."""

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
        def __init__(self, text: str, pasted: Sequence[provenance.Span]) -> None:
            super().__init__()
            self.text = text
            self.pasted = pasted
            """The spans that were not typed."""

    class Left(Message):
        """The user closed it."""

    def __init__(self, text: str, *, one_line: bool, placeholder: str = "") -> None:
        super().__init__(text, placeholder=placeholder, compact=True, highlight_cursor_line=False)
        self._one_line = one_line
        self._pastes: list[str] = []

    def on_mount(self) -> None:
        self.move_cursor(self.document.end)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter" and self._one_line:
            event.stop()
            event.prevent_default()
            self.action_done()
        elif not event.is_printable:
            await act_at_once(self, event)

    async def _on_paste(self, event: events.Paste) -> None:
        if provenance.is_paste(event.text):
            self._pastes.append(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        # Textual's own handler, which runs next, puts it in.

    def action_done(self) -> None:
        text = self.text.strip() if self._one_line else self.text
        self.post_message(self.Done(text, provenance.find(text, self._pastes)))

    def action_back(self) -> None:
        self.post_message(self.Left())

    def action_newline(self) -> None:
        self._replace_via_keyboard("\n", *self.selection)
