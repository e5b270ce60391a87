"""A question before something that cannot be undone."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from pinfold.tui.panels.modal import Modal


class AskPanel(Modal[bool]):
    """Its result is True if the user said yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", show=False),
        Binding("escape,q,n", "dismiss(False)", show=False),
    ]

    def __init__(self, question: str, verb: str) -> None:
        """`verb` is what `y` does: `forgets them`."""
        super().__init__()
        self._question = question
        self._verb = verb

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel") as panel:
            panel.border_subtitle = f"y {self._verb} · Esc closes"
            yield Static(self._question, markup=False)
