"""The cells that the terminal shows, so that an update sends only those that differ.

Textual sends every row of a widget that has changed: while a reply streams in, the whole transcript
for each row that comes. Here rows that only moved are scrolled by the terminal.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from operator import ne
from typing import Any

from rich.cells import cell_len, get_character_cell_size
from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.app import App
from textual.events import Resize
from textual.screen import Screen
from textual.strip import Strip

Cell = tuple[str, str]
"""What begins in it, and the codes for its look. A text of several cells leaves the next empty."""
Row = list[Cell]
Rows = dict[int, Row]

UNKNOWN: Cell = ("?", "")
RESET = "\x1b[0m"
END_LINK = "\x1b]8;;\x1b\\"
GAP = 6
"""Equal cells in a row that are sent again: to move the cursor takes as many bytes."""
MOVED = 3
"""Rows that have to move together before scrolling is considered."""


class TerminalCells:
    """Turns updates of Textual's compositor into what has to be sent for them."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._held: Rows = {}
        """Rows that are not written for now, as they are to be."""

    def forget(self) -> None:
        """Something else may have written to the terminal."""
        self._rows = []
        self._held = {}

    def hold(self, rows: Sequence[Row], but: Collection[int]) -> None:
        """The terminal shows `rows`. Until `release`, only those of `but` are written."""
        self._rows = list(rows)
        self._held = {y: row for y, row in enumerate(rows) if y not in but}

    def release(self) -> str:
        """What to write for the rows that were held; it counts as written."""
        held, self._held = self._held, {}
        return self._write_changed(self._rows.copy(), held) if held else ""

    @property
    def held_size(self) -> tuple[int, int] | None:
        """Columns and lines of what is shown, while rows are held."""
        return (len(self._rows[0]), len(self._rows)) if self._held else None

    def sequences(self, update: ChopsUpdate | LayoutUpdate, console: Console) -> str:
        """What to write for `update`; it counts as written."""
        colours = console._color_system or ColorSystem.TRUECOLOR
        if isinstance(update, LayoutUpdate):
            return self._write_all(update, colours)
        width, height = update.chop_ends[0][-1], len(update.chops)
        rows = self._rows.copy()
        if len(rows) != height or len(rows[0]) != width:
            rows = [[UNKNOWN] * width] * height
            self._held = {}
        drawn = [self._held.get(y, row) for y, row in enumerate(rows)] if self._held else rows
        return self._write_changed(rows, _updated(drawn, update, colours))

    def _write_changed(self, rows: list[Row], updated: Rows) -> str:
        """Write the `updated` of the `rows` that are shown, but for those that are held."""
        for y in self._held.keys() & updated:
            self._held[y] = updated.pop(y)
        writer = _Writer()
        if (scroll := _find_scroll(rows, updated)) is not None:
            top, bottom, by = scroll
            for y in range(top, bottom + 1):
                updated.setdefault(y, rows[y])
            exposed = [[UNKNOWN] * len(rows[0])] * abs(by)
            kept = rows[top : bottom + 1]
            rows[top : bottom + 1] = [*kept[by:], *exposed] if by > 0 else [*exposed, *kept[:by]]
            writer.scroll(top, bottom, by)
        for y, row in sorted(updated.items()):
            if row != rows[y]:
                writer.write(y, row, rows[y])
                rows[y] = row
        self._rows = rows
        return writer.end()

    def _write_all(self, update: LayoutUpdate, colours: ColorSystem) -> str:
        """Also puts right what something else wrote to the terminal."""
        width, height = update.region.size
        if self.held_size == (width, height):
            rows = (cells_of(strips, colours) for strips in update.strips)
            drawn = {y: row + [UNKNOWN] * (width - len(row)) for y, row in enumerate(rows)}
            return self._write_changed(self._rows.copy(), drawn)
        writer = _Writer()
        self._rows, self._held = [], {}
        for y, strips in enumerate(update.strips):
            row = cells_of(strips, colours)
            writer.write(y, row, [])
            self._rows.append(row + [UNKNOWN] * (width - len(row)))
        return writer.end()


class DiffingApp(App[str]):
    """An app that sends only what differs from what the terminal shows."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._cells = TerminalCells()

    def on_mount(self) -> None:
        self.app_resume_signal.subscribe(self, lambda _: self._cells.forget())

    def on_resize(self, event: Resize) -> None:
        if event.size != self._cells.held_size:
            self._cells.forget()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        if isinstance(renderable, ChopsUpdate | LayoutUpdate) and self._paints:
            changed = self._cells.sequences(renderable, self.console)
            cursor = self.screen.outer_size.clamp_offset(self.cursor_position)
            if not changed and cursor == self._previous_cursor_position:
                return
            renderable = Sequences(changed)  # type: ignore[assignment]
        super()._display(screen, renderable)

    @property
    def _paints(self) -> bool:
        """Whether an update is written at all."""
        shown = self._running and not self._closed and not self.is_headless
        return shown and self._driver is not None and not self._batch_count


class Sequences(CompositorUpdate):
    """An update of which it is known what to write."""

    def __init__(self, changed: str) -> None:
        self._changed = changed

    def render_segments(self, console: Console) -> str:  # noqa: ARG002
        return self._changed


class _Writer:
    """Collects what is sent."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._look = RESET
        """As the cell before left it."""

    def scroll(self, top: int, bottom: int, by: int) -> None:
        """Move the rows `top` to `bottom` up by `by`, or down where it is negative."""
        edge, step = (bottom, "\n") if by > 0 else (top, "\x1bM")
        self._out.append(f"{RESET}\x1b[{top + 1};{bottom + 1}r\x1b[{edge + 1};1H")
        self._out.append(step * abs(by) + "\x1b[r")

    def write(self, y: int, row: Row, before: Row) -> None:
        """Write what differs in a row."""
        for start, end in _runs(row, before):
            after_odd = True
            for x in range(start, end):
                text, look = row[x]
                if not text:
                    continue
                if after_odd:
                    self._out.append(f"\x1b[{y + 1};{x + 1}H")
                self._take_on(look)
                self._out.append(text)
                after_odd = len(text) > 1

    def end(self) -> str:
        """All that was collected."""
        self._take_on(RESET)
        return "".join(self._out)

    def _take_on(self, look: str) -> None:
        if look != self._look:
            if "\x1b]8" in self._look:
                self._out.append(END_LINK)
            self._out.append(look)
            self._look = look


def _updated(rows: Sequence[Row], update: ChopsUpdate, colours: ColorSystem) -> Rows:
    """The rows that `update` touches, as they are to be."""
    updated: Rows = {}
    for y, left, right in update.spans:
        row = updated.get(y)
        if row is None:
            row = updated[y] = rows[y].copy()
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x < right and end > left:
                drawn = cells_of([strip], colours)[: end - x]
                row[x : x + len(drawn)] = drawn
    return updated


def cells_of(strips: Iterable[Strip], colours: ColorSystem) -> Row:
    row: Row = []
    for strip in strips:
        for text, style, control in strip:
            if not control:
                look = _look(style, colours) if style is not None else RESET
                parts = text if text.isascii() else texts_of(text)
                row += [(part, look) for part in parts]
    return row


def _look(style: Style, colours: ColorSystem) -> str:
    codes = style._ansi
    if codes is None:
        codes = Strip.render_ansi(style, colours)
    look = f"\x1b[0;{codes}m" if codes else RESET
    return f"\x1b]8;id={style._link_id};{style._link}\x1b\\{look}" if style._link else look


@lru_cache(maxsize=4096)
def texts_of(text: str) -> Sequence[str]:
    """A text by cells: all of it in the first, where it has characters that take none or two."""
    if all(get_character_cell_size(char) == 1 for char in text):
        return text
    return [text, *[""] * (cell_len(text) - 1)] if cell_len(text) else []


def _is_plain(row: Row) -> bool:
    return all(len(text) == 1 for text, _ in row)


def _runs(row: Row, before: Row) -> list[tuple[int, int]]:
    """First and last column (exclusive) of what differs.

    A row with anything but plain characters is sent whole: terminals differ in how wide they are.
    """
    if len(row) != len(before) or not (_is_plain(row) and _is_plain(before)):
        return [(0, len(row))]
    runs: list[tuple[int, int]] = []
    for x, differs in enumerate(map(ne, row, before)):
        if not differs:
            continue
        if runs and x - runs[-1][1] <= GAP:
            runs[-1] = (runs[-1][0], x + 1)
        else:
            runs.append((x, x + 1))
    return runs


def _find_scroll(rows: Sequence[Row], updated: Rows) -> tuple[int, int, int] | None:
    """Which rows moved, first and last, and by how many up; None where it does not pay."""
    changed = [y for y, row in updated.items() if row != rows[y]]
    if len(changed) < MOVED:
        return None
    stood: dict[str, int] = {}
    for y in range(min(changed), max(changed) + 1):
        text = _text(rows[y])
        stood[text] = -1 if text in stood else y
    moves = Counter[int]()
    landed: dict[int, list[int]] = {}
    for y in changed:
        from_y = stood.get(text := _text(updated[y]), -1)
        if from_y >= 0 and text:
            moves[from_y - y] += 1
            landed.setdefault(from_y - y, []).append(y)
    best = max((move for move in moves if move), key=lambda move: moves[move], default=0)
    if not best or moves[best] < MOVED:
        return None
    first, last = min(landed[best]), max(landed[best])
    top, bottom = min(first, first + best), max(last, last + best)
    still = moving = 0
    for y in range(top, bottom + 1):
        row, from_y = updated.get(y, rows[y]), y + best
        still += _count(row, rows[y])
        moving += _count(row, rows[from_y]) if top <= from_y <= bottom else len(row)
    return (top, bottom, best) if moving < still else None


def _text(row: Row) -> str:
    """What is in a row but for its last column, where scroll bars are."""
    return "".join([text for text, _ in row[:-1]]).rstrip()


def _count(row: Row, before: Row) -> int:
    return sum(map(ne, row, before))
