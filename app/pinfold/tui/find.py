"""The find bar: one line above the prompt."""

from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from pinfold.tui.in_order import SearchInput
from pinfold.tui.transcript.view import Transcript

KEYS = "Enter next · ↑ back · Tab all sessions · Esc closes"
WIDE = 76
"""Columns from which the keys are told."""


class FindBar(Horizontal):
    """Searches with each key, and leads from match to match."""

    DEFAULT_CSS = """
    FindBar {
        height: 1;
        padding: 0 2;

        & > #label, & > #tally { width: auto; color: $foreground 60%; }
        & > #tally { padding-left: 2; }
        & > Input { width: 1fr; background: $background; }
        &.-nothing > #tally { color: $warning; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "next", show=False),
        Binding("up,shift+enter", "previous", show=False),
        Binding("tab", "widen", show=False),
        Binding("escape", "leave", show=False),
    ]

    class Widened(Message):
        """The user wants all sessions searched for it."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, transcript: Transcript) -> None:
        super().__init__()
        self.display = False
        self._transcript = transcript
        self._input = SearchInput(compact=True, select_on_focus=False)
        self._tally = Static(id="tally", markup=False)
        self._back: Widget | None = None
        """Had the keys before."""

    def compose(self) -> ComposeResult:
        yield Static("Find  ", id="label", markup=False)
        yield self._input
        yield self._tally

    def look_in(self, transcript: Transcript) -> None:
        """Search this one from now on."""
        self._transcript = transcript

    def open(self, text: str) -> None:
        """Take the keys, and search for `text`; without one, for the last one again.

        What is searched for is selected, so that typing replaces it.
        """
        if not self.display:
            self._back = self.screen.focused
        self.display = True
        if self.screen.focused is self._transcript:
            self._transcript.hand_keys_to(self._input)
        else:
            self._input.focus()
        if text and text != self._input.value:
            self._input.value = text
        else:
            self._search(self._input.value)
        self._input.select_all()

    def step(self, by: int) -> None:
        """Go to another match; when the bar is away, it comes back with its last text."""
        if not self._input.value:
            self.open("")
        elif self.display:
            self._transcript.find_next(by)
            self._count()
        else:
            self.display = True
            self._back = self.screen.focused
            self._search(self._input.value)

    def leave(self) -> None:
        """Go away; the transcript stays where it is."""
        self.workers.cancel_node(self)
        self._transcript.end_find()
        if self._back is not None and self.has_focus_within:
            self._back.focus()
        self.display = False

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if self.display:
            self._search(event.value)

    @work(exclusive=True, group="search")
    async def _search(self, text: str) -> None:
        await self._transcript.find(text)
        self._count()

    def _count(self) -> None:
        at, total = self._transcript.tally
        nothing = bool(self._input.value) and not total
        told = f"{at:,}/{total:,}" if total else "nothing found" if nothing else ""
        keys = KEYS if self.app.size.width >= WIDE else ""
        self._tally.update(Text("   ".join(part for part in (told, keys) if part)))
        self.set_class(nothing, "-nothing")

    @on(Input.Submitted)
    def action_next(self) -> None:
        self.step(1)

    def action_previous(self) -> None:
        self.step(-1)

    def action_widen(self) -> None:
        self.leave()
        self.post_message(self.Widened(self._input.value))

    def action_leave(self) -> None:
        self.leave()
