"""Rows with a cursor: one widget that draws only those in view, so thousands cost nothing."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from msgspec import Struct
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from pinfold.sanitize import one_line
from pinfold.tui.colours import ink
from pinfold.tui.panels.fitting import cell, fitted

Row = TypeVar("Row")
Cell = tuple[str, Style]
Sizes = Mapping[str, int]
"""Cells of columns, by name."""
_GAP = "  "


class Heading(NamedTuple):
    """Stands above rows; the cursor steps over it."""

    text: str
    note: str = ""
    columns: bool = False
    """Whether it also names the columns."""

    @property
    def key(self) -> str:
        return f"/{self.text}"


class Table(ScrollView, Generic[Row], can_focus=False):
    """The keys that move its cursor belong to the screen around it.

    Subclasses say which columns there are and what is in them, or draw a row themselves.
    """

    SIZES: ClassVar[Sizes] = {"words": 0}
    """Cells of each column; `words` takes what is left."""
    RIGHT: ClassVar[Collection[str]] = ()
    """Right-aligned columns."""
    GIVE_WAY: ClassVar[Sizes] = {}
    """Columns that shrink if there is no room, in this order, and to how many cells."""
    ENOUGH: ClassVar[int] = 1
    """Cells of `words` below which other columns shrink."""
    HEADS: ClassVar[Mapping[str, str]] = {}
    """What a heading calls the columns at the right, by name."""
    MARKS: ClassVar[int] = 1
    """Cells before the columns; the cursor takes the first."""
    STAYS: ClassVar[bool] = False
    """Whether the cursor keeps its row even before the user moved it."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--cursor", "table--beside"}
    DEFAULT_CSS = """
    Table {
        height: 1fr;
        background: $background;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-color: $rule;

        & > .table--cursor { background: $surface; text-style: bold; }
        & > .table--beside { color: $foreground 60%; }
    }
    """

    @dataclass
    class Moved(Message):
        """The cursor is on another row, or on none."""

        key: str | None

    @dataclass
    class Taken(Message):
        """A row was clicked twice."""

        key: str

    def __init__(self) -> None:
        super().__init__()
        self.rows: Mapping[str, Row | Heading] = {}
        """By key, in order."""
        self.lines: Sequence[Row | Heading] = ()
        """The same, by place."""
        self.sizes = dict(self.SIZES)
        self._keys: Sequence[str] = ()
        self._places: dict[str, int] = {}
        self._headings: frozenset[int] = frozenset()
        self._cursor = 0
        self._moved = False
        """Whether the user moved the cursor."""
        self._inks: dict[str, Style] = {}

    # Rows

    @property
    def current(self) -> str | None:
        """The key of the row under the cursor."""
        return self._keys[self._cursor] if self._keys else None

    @property
    def row(self) -> Row | None:
        """The row under the cursor; a heading is none."""
        row = self.lines[self._cursor] if self.lines else None
        return None if isinstance(row, Heading) else row

    @property
    def items(self) -> list[Row]:
        """The rows without the headings."""
        return [row for row in self.lines if not isinstance(row, Heading)]

    def show(self, rows: Mapping[str, Row | Heading], *, top: bool = False) -> None:
        """Show `rows`. A cursor that the user moved stays on its row, and that in its place on
        the screen; where the row is gone, on the one that took its place. `top` moves it up."""
        last, y = self.current, round(self.scroll_offset.y)
        seen = self._cursor - y
        self._moved = self._moved and not top
        stays = last is not None and not top and (self._moved or self.STAYS)
        self.rows, self._keys, self.lines = rows, list(rows), list(rows.values())
        self._places = {key: place for place, key in enumerate(self._keys)}
        self._headings = frozenset(
            place for place, row in enumerate(self.lines) if isinstance(row, Heading)
        )
        place = self._places.get(last or "", self._cursor) if stays else 0
        self._cursor = self._off_heading(max(0, min(place, len(rows) - 1)), 1)
        self._arrange()
        if y and not top:
            self.scroll_to(y=self._cursor - seen)
        self._changed()

    def _arrange(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, len(self.lines))
        self._reveal()

    def _changed(self) -> None:
        self.refresh()
        self.post_message(self.Moved(self.current))

    def on_resize(self) -> None:
        self._arrange()

    # The cursor

    def move(self, step: int) -> None:
        """Move the cursor down, or up, by some rows."""
        self.go(self._cursor + step, 1 if step > 0 else -1)

    def page(self, way: int) -> None:
        """Move by what is in view."""
        self.move(way * max(1, self.size.height - 1))

    def edge(self, way: int) -> None:
        """Move to the first row, or to the last."""
        self.move(way * len(self.lines))

    def go(self, place: int, way: int = 1) -> None:
        """Put the cursor there; it steps over headings in direction `way`."""
        if self.lines:
            self._moved = True
            self._cursor = self._off_heading(max(0, min(place, len(self.lines) - 1)), way)
            self._reveal()
            self._changed()

    def _off_heading(self, place: int, way: int) -> int:
        for step in (way, -way):
            at = place
            while at in self._headings:
                at += step
            if 0 <= at < len(self.lines):
                return at
        return place

    def _reveal(self) -> None:
        height, y = self.size.height, round(self.scroll_offset.y)
        top = self._cursor
        while top - 1 in self._headings:  # it shows too
            top -= 1
        if top < y:
            self.scroll_to(y=top)
        elif height and self._cursor >= y + height:
            self.scroll_to(y=self._cursor - height + 1)

    def on_click(self, event: events.Click) -> None:
        place = event.y + round(self.scroll_offset.y)
        if place < len(self.lines):
            self.go(place)
            if event.chain == 2:
                self.post_message(self.Taken(self._keys[place]))

    def scroll_to(self, x: float | None = None, y: float | None = None, **options: Any) -> None:
        """Scroll at once: each step of an animation would paint the whole table."""
        super().scroll_to(x, y, **{**options, "animate": False})

    # What is drawn

    @property
    def columns(self) -> dict[str, int]:
        """Cells of each column; one with none is left out."""
        width = self.scrollable_content_region.width
        return fitted(self.sizes, width - self.MARKS - 1, self.GIVE_WAY, self.ENOUGH)

    def ink(self, name: str) -> Style:
        """`tui.colours.ink`, worked out once for each theme."""
        if name not in self._inks:
            self._inks[name] = ink(self.app, name)
        return self._inks[name]

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._inks.clear()

    def render_line(self, y: int) -> Strip:
        width, place = self.scrollable_content_region.width, y + round(self.scroll_offset.y)
        if place >= len(self.lines):
            return Strip.blank(width, self.rich_style)
        row, chosen = self.lines[place], place == self._cursor
        if isinstance(row, Heading):
            style, segments = self.rich_style, self._draw_heading(row)
        else:
            style = self.rich_style + self.under(row, chosen=chosen)
            segments = self.draw(row, chosen=chosen)
        return Strip(segments).apply_style(style).adjust_cell_length(width, style)

    def _draw_heading(self, heading: Heading) -> Iterable[Segment]:
        dim, strong = self.ink("foreground 60%"), self.ink("primary") + Style(bold=True)
        text = Text(" ", end="").append(heading.text, strong)
        text.append(f"  {heading.note}" if heading.note else "", dim)
        if heading.columns:
            sizes = self.columns
            heads = "".join(cell(self.HEADS[name], sizes[name], right=True) for name in self.HEADS)
            room = self.scrollable_content_region.width - len(heads) - 1
            text.truncate(room, overflow="ellipsis", pad=True)
            text.append(f" {heads}", dim)
        return text.render(self.app.console)

    def under(self, row: Row, *, chosen: bool) -> Style:  # noqa: ARG002
        """The style of a row as a whole."""
        return self.get_component_rich_style("table--cursor") if chosen else Style()

    def draw(self, row: Row, *, chosen: bool) -> Iterable[Segment]:
        """A row: the cursor and the columns."""
        yield self.cursor(chosen=chosen)
        for (name, size), (said, style) in zip(self.columns.items(), self.cells(row), strict=True):
            if size:
                yield Segment(cell(said, size, right=name in self.RIGHT), style)

    def cursor(self, *, chosen: bool) -> Segment:
        return Segment("▎" if chosen else " ", self.ink("accent"))

    def cells(self, row: Row) -> Iterable[Cell]:
        """What is in each column, in their order."""
        raise NotImplementedError


class ListLine(Struct, frozen=True, gc=False):
    """Something to choose."""

    key: str
    head: str
    """Before the text; equally wide in every line."""
    text: str
    note: str = ""
    """Behind the text, dim."""
    right: str = ""
    """At the right edge, dim."""


class LineTable(Table[ListLine]):
    """Lines that use the whole width."""

    def show_lines(self, lines: Sequence[ListLine], *, top: bool = False) -> None:
        self.show({line.key: line for line in lines}, top=top)

    def draw(self, row: ListLine, *, chosen: bool) -> Iterable[Segment]:
        width = self.scrollable_content_region.width
        beside = self.get_component_rich_style("table--beside", partial=True)
        right = f"{_GAP}{row.right} " if row.right else ""
        head = f"{row.head}{_GAP}"
        text = Text(one_line(row.text))
        if row.note:  # it gets its half, if it needs that much
            room = width - cell_len(head + right) - 2 * len(_GAP)
            note = cell_len(one_line(row.note))
            text.truncate(max(room // 2, room - note), overflow="ellipsis")
        said = Text.assemble(
            "› " if chosen else _GAP,
            (head, beside),
            text,
            (f"{_GAP}{one_line(row.note)}" if row.note else "", beside),
            end="",
        )
        said.truncate(width - cell_len(right), overflow="ellipsis", pad=bool(right))
        said.append(set_cell_size(right, min(cell_len(right), width)), beside)
        return said.render(self.app.console)
