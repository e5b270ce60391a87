"""Shows a project's skills and commands and asks the user to accept them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from pinfold.commands.skills_text import called, page
from pinfold.tui.panels.item import Page
from pinfold.tui.panels.modal import Modal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pinfold.skills.extension import Extension

_WARNING = (
    "This text comes with the project. Once you accept it, the model may follow it; you are asked "
    "again when the text, or a file beside a skill, changes. Commands need the usual approval."
)
_TRUSTS = " This also trusts the folder: its config file applies in full from the next session."


class AcceptPanel(Modal[bool]):
    """Its result is True if the user accepts them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", show=False, priority=True),
        Binding("escape,q,n", "dismiss(False)", show=False, priority=True),
    ]

    def __init__(self, asked: Sequence[Extension]) -> None:
        super().__init__()
        self._asked = asked
        self._page = Page("\n\n".join(f"── /{called(one)} ──\n{page(one)}" for one in asked))

    def compose(self) -> ComposeResult:
        one, more = self._asked[0], len(self._asked) - 1
        state = "changed" if one.state == "changed" else "new"
        what = f"these {more + 1}" if more else f"the {state} {one.kind} /{called(one)}"
        trusts = any(asked.state == "untrusted" for asked in self._asked)
        with Vertical(classes="panel full") as panel:
            panel.border_title = Text(f"Accept {what} of this project?")
            panel.border_subtitle = "y accepts · n declines · ↑ ↓ scroll"
            yield Static(Text(_WARNING + (_TRUSTS if trusts else "")), classes="hint")
            yield self._page

    def on_mount(self) -> None:
        self._page.focus()
