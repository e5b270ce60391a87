"""The table of the context panel: its columns, and a selection."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from pinfold.commands.context_text import SIGNS, age, kind, marks, words
from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.tui.colours import ground
from pinfold.tui.gauge import LETTERS, variable
from pinfold.tui.panels.context_rows import AnyRow, Sort, key, segment
from pinfold.tui.panels.fitting import cell
from pinfold.tui.panels.keys import keys, moves
from pinfold.tui.panels.table import Cell, Sizes, Table
from pinfold.window.overview import ItemRow

LETTER = 2
"""Cells of the kind where only its sign fits."""
MOVES = [
    *moves("context"),
    *keys(
        "context",
        ("shift+up", "extend_up", "Select upwards"),
        ("shift+down", "extend_down", "Select downwards"),
        ("v", "range", "Start or end a range"),
        ("space", "select", "Select this item"),
        ("a", "all", "Select everything shown"),
        ("enter", "open", "Read in full"),
    ),
]


TITLES: Mapping[str, tuple[str, Sort | None]] = {
    "number": ("#", "order"),
    "marks": ("", None),
    "kind": ("kind", "kind"),
    "words": ("words", None),
    "file": ("file", None),
    "tokens": ("tokens", "size"),
    "bar": ("share", "size"),
    "percent": ("", "size"),
    "age": ("age", "age"),
}
"""The heading of each column, and what a click on it sorts by."""
SLIGHT = 0.0005
"""A share of the context window that would round to 0.0%."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_SIGN = "■"


class Titles(Widget):
    """The headings of `table`. A click on one sorts."""

    DEFAULT_CSS = """
    Titles { height: 1; color: $foreground 60%; }
    """

    sort: reactive[Sort] = reactive("order")

    @dataclass
    class Clicked(Message):
        sort: Sort

    def __init__(self, table: "ContextTable") -> None:
        super().__init__()
        self._table = table

    def on_mount(self) -> None:
        self.watch(self._table, "virtual_size", self._align)

    def _align(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        segments = [Segment("  ", self.rich_style)]
        marked = False
        for name, size in self._table.columns.items():
            title, sort = TITLES[name] if name != "kind" or size > LETTER else ("", "kind")
            # Several columns may sort alike: the first that has a name shows it.
            sorts = bool(title) and sort == self.sort and not marked
            marked = marked or (sorts and size > 0)
            style = self.rich_style + Style(bold=True) if sorts else self.rich_style
            title = f"▾{title}" if sorts else title
            text = cell(title[:size], size, right=name in self._table.RIGHT)
            segments.append(Segment(text, style))
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)

    def on_click(self, event: events.Click) -> None:
        at = 2
        for name, size in self._table.columns.items():
            sort = TITLES[name][1]
            if size and at <= event.x <= at + size and sort is not None:
                self.post_message(self.Clicked(sort))
            at += size + 1 if size else 0


class ContextTable(Table[AnyRow], can_focus=True):
    """Adds a selection, and its keys."""

    DEFAULT_CSS = """
    ContextTable { overflow-y: scroll; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*MOVES]
    SIZES: ClassVar[Sizes] = {
        "number": 1,
        "marks": 2,
        "kind": 12,
        "words": 0,
        "file": 22,
        "tokens": 7,
        "bar": 8,
        "percent": 5,
        "age": 4,
    }
    RIGHT = ("number", "tokens", "percent", "age")
    GIVE_WAY: ClassVar[Sizes] = {"percent": 0, "file": 0, "kind": LETTER, "age": 0, "bar": 0}
    ENOUGH = 24
    MARKS = 2
    STAYS = True

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__()
        self.selected: set[int] = set()
        """Numbers of items, shown or not."""
        self.ranging = False
        """Whether moving the cursor selects."""
        self._now = now
        self._anchor: str | None = None
        self._before: frozenset[int] = frozenset()
        """What was selected when the range began."""
        self._largest = 0

    def show_rows(
        self, rows: Sequence[AnyRow], items: Collection[int], *, top: bool = False
    ) -> None:
        """Show `rows` of a window of `items`."""
        keyed = {key(row): row for row in rows}
        self._largest = max((row.tokens for row in rows), default=0)
        number = max((row.n for row in rows if isinstance(row, ItemRow)), default=0)
        self.sizes["number"] = len(str(number)) + 1
        self.selected &= set(items)
        if self._anchor not in keyed:
            self.end_range()
        self.show(keyed, top=top)

    # What is drawn

    def under(self, row: AnyRow, *, chosen: bool) -> Style:
        if not chosen and not self._is_selected(row):
            return Style()
        return Style(bgcolor=ground(self.app, "primary 24%" if chosen else "accent 16%").bgcolor)

    def _is_selected(self, row: AnyRow) -> bool:
        return isinstance(row, ItemRow) and row.n in self.selected

    def cursor(self, *, chosen: bool) -> Segment:
        return Segment("▎" if chosen else " ", self._mark)

    def draw(self, row: AnyRow, *, chosen: bool) -> Iterable[Segment]:
        cursor, *columns = super().draw(row, chosen=chosen)
        tick = Segment("✓" if self._is_selected(row) else " ", self._mark)
        return [cursor, tick, *columns]

    @property
    def _mark(self) -> Style:
        return self.ink("accent") + Style(bold=True)

    def cells(self, row: AnyRow) -> Iterable[Cell]:
        item = row if isinstance(row, ItemRow) else None
        columns, said, name = self.columns, marks(row), segment(row)
        dim, colour = self.ink("foreground 60%"), self.ink(variable(name))
        plain = dim if "folded" in said else self.ink("foreground")
        sign = LETTERS[name] if self.app.no_color else _SIGN
        yield f"#{item.n}" if item else "", self.ink("foreground 45%")
        yield "".join(SIGNS[mark] for mark in said), self._mark
        yield f"{sign} {kind(row)}" if columns["kind"] > LETTER else sign, colour
        yield words(row), plain
        yield _file(item, columns["file"]), dim
        yield tokens(row.tokens) if row.tokens else "–", plain
        yield _bar(row.tokens, self._largest, columns["bar"]), colour
        yield f"{item.share:.1%}" if item and item.share > SLIGHT else "", dim
        yield age(item.at, self._now()) if item else "", dim

    # The cursor and the selection

    def action_move(self, step: int) -> None:
        self.move(step)

    def action_page(self, way: int) -> None:
        self.page(way)

    def action_edge(self, way: int) -> None:
        self.edge(way)

    def action_extend_up(self) -> None:
        self._extend(self._cursor - 1)

    def action_extend_down(self) -> None:
        self._extend(self._cursor + 1)

    def action_range(self) -> None:
        if self.ranging:
            self.end_range()
        elif self.lines:
            self.ranging = True
            self._extend(self._cursor, anew=True)

    def action_select(self) -> None:
        row = self.row
        self.end_range()
        if isinstance(row, ItemRow):
            self.selected ^= {row.n}
            self._changed()

    def action_all(self) -> None:
        self.end_range()
        self.selected |= {row.n for row in self.lines if isinstance(row, ItemRow)}
        self._changed()

    def action_open(self) -> None:
        if self.current is not None:
            self.post_message(self.Taken(self.current))

    def clear(self) -> None:
        """Select nothing."""
        self.end_range()
        self.selected = set()
        self._changed()

    def end_range(self) -> None:
        """What is selected stays so."""
        self._anchor, self.ranging = None, False

    def _extend(self, place: int, *, anew: bool = False) -> None:
        """Move the cursor, and select what is between it and where the range began."""
        if self.current is not None and (anew or self._anchor is None):
            self._anchor = self.current
            self._before = frozenset(self.selected)
        ranging, self.ranging = self.ranging, True
        self.go(place)
        self.ranging = ranging

    def go(self, place: int, way: int = 1) -> None:
        if not self.ranging:
            self._anchor = None
        super().go(place, way)
        if self._anchor is not None:
            first, last = sorted((self._places[self._anchor], self._cursor))
            within = self.lines[first : last + 1]
            self.selected = {*self._before, *(row.n for row in within if isinstance(row, ItemRow))}

    def on_click(self, event: events.Click) -> None:
        place = event.y + round(self.scroll_offset.y)
        if event.shift and place < len(self.lines):
            event.prevent_default()
            self._extend(place)


def _file(row: ItemRow | None, width: int) -> str:
    """The file, its end where there is no room for all; and how many more there are."""
    if row is None or not row.files:
        return ""
    more = f" +{len(row.files) - 1}" if len(row.files) > 1 else ""
    path, room = one_line(row.files[0]), width - len(more)
    return (path if cell_len(path) <= room else f"…{path[-(room - 1) :]}") + more


def _bar(count: int, largest: int, width: int) -> str:
    eighths = max(1, count * width * 8 // largest) if count and largest else 0
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
