"""The list of completions, above the prompt."""

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
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
        border: round $rule;
        border-subtitle-color: $foreground 60%;
        padding: 0 1;
        background: $background;

        & > .popup--chosen { background: $primary 30%; text-style: bold; }
        & > .popup--help { color: $foreground 60%; }
        & > .popup--thumb { background: $foreground 35%; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"popup--chosen", "popup--help", "popup--thumb"}

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
        self.styles.margin = (0, 0, bottom, 0)
        self.styles.height = min(ROWS, len(candidates)) + self.gutter.height
        self._count()
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
        self._count()

    def _count(self) -> None:
        place = f"{self.chosen + 1} of {len(self._candidates)}"
        self.border_subtitle = f"{place} · ↑ ↓ choose · Tab completes"

    def render(self) -> Text:
        visible = self._candidates[self._first : self._first + ROWS]
        thumb = self._thumb()
        width = self.content_size.width - (2 if thumb else 0)
        longest = max((cell_len(row.text) for row in visible), default=0)
        helped = any(row.help for row in visible)
        column = min(longest, width * 2 // 5) + 2 if helped else width
        out = Text(no_wrap=True, overflow="ellipsis", end="")
        for row, candidate in enumerate(visible):
            line = Text(one_line(candidate.text), end="")
            line.truncate(column - 2, overflow="ellipsis")
            line.pad_right(column - line.cell_len)
            line.append(
                candidate.help, Style(color=self.get_component_rich_style("popup--help").color)
            )
            line.truncate(width, overflow="ellipsis", pad=True)
            if self._first + row == self.chosen:
                line.stylize(self.get_component_rich_style("popup--chosen"))
            if thumb:
                style = self.get_component_rich_style("popup--thumb") if row in thumb else ""
                line.append(" ").append(" ", style)
            out.append_text(line)
            out.append("\n")
        out.right_crop(1)
        return out

    def _thumb(self) -> range:
        """The rows that the scrollbar's thumb takes; none where all fits."""
        total = len(self._candidates)
        if total <= ROWS:
            return range(0)
        size = -(-ROWS * ROWS // total)
        top = round(self._first * (ROWS - size) / (total - ROWS))
        return range(top, top + size)

    def on_click(self, event: Click) -> None:
        row = self._first + event.y - self.gutter.top
        if 0 <= row < len(self._candidates):
            self.chosen = row
            self.post_message(self.Picked())
