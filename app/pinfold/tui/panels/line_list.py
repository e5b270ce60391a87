"""Lines to choose from: one widget that draws only those in view, so thousands cost nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from msgspec import Struct
from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from pinfold.sanitize import one_line

_GAP = "  "


class Line(Struct, frozen=True, gc=False):
    """Something to choose."""

    key: str
    head: str
    """What stands before the text, as wide in every line."""
    text: str
    note: str = ""
    """What is said behind the text."""
    right: str = ""
    """What stands at the right edge."""


class LineList(ScrollView, can_focus=False):
    """The keys that move its cursor belong to the screen around it."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"line-list--cursor", "line-list--beside"}
    DEFAULT_CSS = """
    LineList {
        height: 1fr;
        background: $background;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-color: $rule;

        & > .line-list--cursor { background: $surface; text-style: bold; }
        & > .line-list--beside { color: $foreground 60%; }
    }
    """

    @dataclass
    class Moved(Message):
        """The cursor stands on another line, or on none."""

        key: str | None

    @dataclass
    class Taken(Message):
        """A line was clicked twice."""

        key: str

    def __init__(self) -> None:
        super().__init__()
        self.lines: Sequence[Line] = ()
        self._cursor = 0
        self._moved = False
        """Whether the user has chosen where the cursor stands."""

    @property
    def current(self) -> str | None:
        """The key of the line under the cursor."""
        return self.lines[self._cursor].key if self.lines else None

    def show(self, lines: Sequence[Line], *, top: bool) -> None:
        """Show `lines`; a cursor that the user moved stays on its line, if it is not to go to the
        `top`."""
        self._moved = self._moved and not top
        last = self.current if self._moved else None
        self.lines = lines
        places = (place for place, line in enumerate(lines) if line.key == last)
        self._cursor = next(places, 0)
        self.virtual_size = Size(self.scrollable_content_region.width, len(lines))
        self._reveal()
        self.refresh()
        self.post_message(self.Moved(self.current))

    def move(self, step: int) -> None:
        """Move the cursor down, or up, by some lines."""
        if self.lines:
            self._moved = True
            self._cursor = max(0, min(self._cursor + step, len(self.lines) - 1))
            self._reveal()
            self.refresh()
            self.post_message(self.Moved(self.current))

    def page(self, way: int) -> None:
        """Move by what is in view."""
        self.move(way * max(1, self.size.height - 1))

    def _reveal(self) -> None:
        height, y = self.size.height, round(self.scroll_offset.y)
        if self._cursor < y:
            self.scroll_to(y=self._cursor)
        elif height and self._cursor >= y + height:
            self.scroll_to(y=self._cursor - height + 1)

    def on_resize(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, len(self.lines))
        self._reveal()

    def on_click(self, event: events.Click) -> None:
        place = event.y + round(self.scroll_offset.y)
        if place < len(self.lines):
            self.move(place - self._cursor)
            if event.chain == 2:
                self.post_message(self.Taken(self.lines[place].key))

    def scroll_to(self, x: float | None = None, y: float | None = None, **options: Any) -> None:
        """Scroll at once: each step of an animation would paint the whole list."""
        super().scroll_to(x, y, **{**options, "animate": False})

    def render_line(self, y: int) -> Strip:
        width, place = self.scrollable_content_region.width, y + round(self.scroll_offset.y)
        if place >= len(self.lines):
            return Strip.blank(width, self.rich_style)
        chosen = place == self._cursor
        style = self.rich_style
        if chosen:
            style += self.get_component_rich_style("line-list--cursor")
        text = self._draw(self.lines[place], chosen, width)
        strip = Strip(text.render(self.app.console)).apply_style(style)
        return strip.adjust_cell_length(width, style)

    def _draw(self, line: Line, chosen: bool, width: int) -> Text:
        beside = self.get_component_rich_style("line-list--beside", partial=True)
        right = f"{_GAP}{line.right} " if line.right else ""
        head = f"{line.head}{_GAP}"
        text = Text(one_line(line.text))
        if line.note:  # it gets its half
            text.truncate((width - cell_len(head + right)) // 2, overflow="ellipsis")
        said = Text.assemble(
            "› " if chosen else _GAP,
            (head, beside),
            text,
            (f"{_GAP}{one_line(line.note)}" if line.note else "", beside),
            end="",
        )
        said.truncate(width - cell_len(right), overflow="ellipsis", pad=bool(right))
        said.append(set_cell_size(right, min(cell_len(right), width)), beside)
        return said
