"""The list of completions, above the prompt."""

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from pinfold.sanitize import one_line
from pinfold.tui.prompt.completion import Candidate

ROWS = 8


class Popup(Widget):
    """A window of `ROWS` lines on the candidates. The prompt keeps the focus and moves it."""

    DEFAULT_CSS = """
    Popup {
        layer: popup;
        dock: bottom;
        height: auto;
        background: $surface;
        padding: 0 1;

        & > .popup--chosen { background: $primary 30%; text-style: bold; }
        & > .popup--help { color: $foreground 60%; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"popup--chosen", "popup--help"}

    class Picked(Message):
        """A candidate was clicked; it is the current one now."""

    chosen: reactive[int] = reactive(0)

    def __init__(self) -> None:
        super().__init__()
        self._candidates: Sequence[Candidate] = ()
        self._first = 0
        self.moved = False
        """Whether the user has chosen the current one."""
        self.display = False

    def show(self, candidates: Sequence[Candidate], bottom: int = 0) -> None:
        """Open with `candidates`, the first one chosen, `bottom` rows above the screen's end.

        No candidates close it.
        """
        self._candidates = candidates
        self._first = 0
        self.chosen = 0
        self.moved = False
        self.display = bool(candidates)
        if not candidates:
            return
        self.styles.margin = (0, 2, bottom, 2)
        self.styles.height = min(ROWS, len(candidates)) + self.gutter.height
        self.refresh()

    @property
    def current(self) -> Candidate | None:
        """The chosen candidate; None while closed."""
        return self._candidates[self.chosen] if self.display else None

    def move(self, by: int) -> None:
        """Choose another, around the ends."""
        self.moved = True
        self.chosen = (self.chosen + by) % len(self._candidates)
        self._first = max(min(self._first, self.chosen), self.chosen - ROWS + 1)

    def render(self) -> Text:
        visible = self._candidates[self._first : self._first + ROWS]
        width = self.content_size.width
        column = min(
            max((len(candidate.text) for candidate in visible), default=0) + 2, width * 2 // 3
        )
        out = Text(no_wrap=True, overflow="ellipsis", end="")
        for row, candidate in enumerate(visible, self._first):
            line = Text(one_line(candidate.text).ljust(column), end="")
            line.append(
                candidate.help, Style(color=self.get_component_rich_style("popup--help").color)
            )
            line.truncate(width, overflow="ellipsis", pad=True)
            if row == self.chosen:
                line.stylize(self.get_component_rich_style("popup--chosen"))
            out.append_text(line)
            out.append("\n")
        out.right_crop(1)
        return out

    def on_click(self, event: Click) -> None:
        row = self._first + event.y - self.gutter.top
        if 0 <= row < len(self._candidates):
            self.chosen = row
            self.post_message(self.Picked())
