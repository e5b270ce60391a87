"""The rows of the context panel: one widget that draws only those in view."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from pinfold.tui.panels.context_line import Columns, Drawn, Looks, draw, looks_of, titles
from pinfold.tui.panels.context_rows import AnyRow, Sort, key
from pinfold.tui.panels.keys import keys, moves
from pinfold.window.overview import Row

MOVES = [
    *moves("context"),
    *keys(
        "context",
        ("shift+up", "extend_up", "Select upwards"),
        ("shift+down", "extend_down", "Select downwards"),
        ("v", "range", "Begin or end a range"),
        ("space", "select", "Select this item"),
        ("a", "all", "Select all that is shown"),
        ("enter", "open", "Read in full"),
    ),
]


class Titles(Widget):
    """The headings. A click on one sorts."""

    DEFAULT_CSS = """
    Titles { height: 1; color: $foreground 60%; }
    """

    columns: reactive[Columns | None] = reactive(None)
    sort: reactive[Sort] = reactive("order")

    @dataclass
    class Clicked(Message):
        sort: Sort

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        segments = [Segment("  ", self.rich_style)]
        marked = False
        for title in titles(self.columns) if self.columns else ():
            # Several columns may sort alike: the first that has a name shows it.
            sorts = bool(title.text) and title.sort == self.sort and not marked
            marked = marked or sorts
            text = (f"▾{title.text}" if sorts else title.text)[: title.width]
            text = text.rjust(title.width) if title.right else text.ljust(title.width)
            style = self.rich_style + Style(bold=True) if sorts else self.rich_style
            segments.append(Segment(f"{text} ", style))
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)

    def on_click(self, event: events.Click) -> None:
        at = 2
        for title in titles(self.columns) if self.columns else ():
            if at <= event.x <= at + title.width and title.sort is not None:
                self.post_message(self.Clicked(title.sort))
            at += title.width + 1


class ContextTable(ScrollView, can_focus=True):
    """A cursor, a selection by number, and the keys that move both."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    ContextTable {
        height: 1fr;
        background: $background;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-color: $rule;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*MOVES]

    columns: reactive[Columns | None] = reactive(None)

    @dataclass
    class Moved(Message):
        """The cursor or the selection is another."""

    @dataclass
    class Opened(Message):
        row: AnyRow

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__()
        self.rows: Sequence[AnyRow] = ()
        self.selected: set[int] = set()
        """Numbers of items, shown or not."""
        self.ranging = False
        """The cursor draws a range behind it."""
        self._now = now
        self._places: dict[int | str, int] = {}
        self._cursor = 0
        self._anchor: int | str | None = None
        self._before: frozenset[int] = frozenset()
        """What was selected when the range began."""
        self._largest = 0
        self._looks: Looks | None = None

    # Rows

    @property
    def current(self) -> AnyRow | None:
        """The row under the cursor."""
        return self.rows[self._cursor] if self.rows else None

    def show(self, rows: Sequence[AnyRow], items: Collection[int], *, top: bool = False) -> None:
        """Show `rows` of a window of `items`; the cursor stays on its row, or goes to the `top`."""
        last = self.current
        seen = self._cursor - round(self.scroll_offset.y)
        self.rows = rows
        self._places = {key(row): place for place, row in enumerate(rows)}
        self._largest = max((row.tokens for row in rows), default=0)
        place = self._places.get(key(last), self._cursor) if last and not top else 0
        self._cursor = max(0, min(place, len(rows) - 1))
        self.selected &= set(items)
        if self._anchor not in self._places:
            self.end_range()
        self._arrange()
        if last is not None and not top:  # the row stays where it was on the screen
            self.scroll_to(y=self._cursor - seen, animate=False)
        self._reveal()
        self.refresh()
        self.post_message(self.Moved())

    def _arrange(self) -> None:
        width = self.scrollable_content_region.width
        self.virtual_size = Size(width, len(self.rows))
        number = max((row.n for row in self.rows if isinstance(row, Row)), default=0)
        self.columns = Columns.fitting(width, len(str(number)) + 1)

    def on_resize(self) -> None:
        self._arrange()
        self._reveal()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._looks = None

    def render_line(self, y: int) -> Strip:
        width, place = self.size.width, y + round(self.scroll_offset.y)
        if place >= len(self.rows) or self.columns is None:
            return Strip.blank(width, self.rich_style)
        if self._looks is None:
            self._looks = looks_of(self.app)
        row = self.rows[place]
        selected = isinstance(row, Row) and row.n in self.selected
        how = Drawn(self._largest, self._now(), place == self._cursor, selected)
        strip = Strip(draw(row, self.columns, self._looks, how)).apply_style(self.rich_style)
        return strip.adjust_cell_length(width, self.rich_style)

    # The cursor and the selection

    def action_move(self, step: int) -> None:
        self._go(self._cursor + step)

    def action_page(self, way: int) -> None:
        self._go(self._cursor + way * max(1, self.size.height - 1))

    def action_edge(self, way: int) -> None:
        self._go(0 if way < 0 else len(self.rows))

    def action_extend_up(self) -> None:
        self._extend(-1)

    def action_extend_down(self) -> None:
        self._extend(1)

    def _extend(self, step: int) -> None:
        if self._anchor is None:
            self._begin_range()
        self._go(self._cursor + step, extend=True)

    def action_range(self) -> None:
        if self.ranging:
            self.end_range()
        elif self.rows:
            self._begin_range()
            self.ranging = True
            self._go(self._cursor, extend=True)

    def action_select(self) -> None:
        row = self.current
        self.end_range()
        if isinstance(row, Row):
            self.selected ^= {row.n}
            self._changed()

    def action_all(self) -> None:
        self.end_range()
        self.selected |= {row.n for row in self.rows if isinstance(row, Row)}
        self._changed()

    def action_open(self) -> None:
        if self.current is not None:
            self.post_message(self.Opened(self.current))

    def clear(self) -> None:
        """Select nothing."""
        self.end_range()
        self.selected = set()
        self._changed()

    def _begin_range(self) -> None:
        if self.current is not None:
            self._anchor = key(self.current)
            self._before = frozenset(self.selected)

    def end_range(self) -> None:
        """What is selected stays so."""
        self._anchor, self.ranging = None, False

    def _go(self, place: int, *, extend: bool = False) -> None:
        if not self.rows:
            return
        self._cursor = max(0, min(place, len(self.rows) - 1))
        if not extend and not self.ranging:
            self._anchor = None
        if self._anchor is not None:
            first, last = sorted((self._places[self._anchor], self._cursor))
            within = self.rows[first : last + 1]
            self.selected = {*self._before, *(row.n for row in within if isinstance(row, Row))}
        self._reveal()
        self._changed()

    def _reveal(self) -> None:
        height, y = self.size.height, round(self.scroll_offset.y)
        if self._cursor < y:
            self.scroll_to(y=self._cursor, animate=False)
        elif height and self._cursor >= y + height:
            self.scroll_to(y=self._cursor - height + 1, animate=False)

    def _changed(self) -> None:
        self.refresh()
        self.post_message(self.Moved())

    # The mouse

    def on_click(self, event: events.Click) -> None:
        place = event.y + round(self.scroll_offset.y)
        if place >= len(self.rows):
            return
        if event.shift and self._anchor is None:
            self._begin_range()
        self._go(place, extend=event.shift)
        if event.chain == 2:
            self.action_open()

    def scroll_to(self, x: float | None = None, y: float | None = None, **options: Any) -> None:
        """Scroll at once: each step of an animation would paint the whole table."""
        super().scroll_to(x, y, **{**options, "animate": False})
