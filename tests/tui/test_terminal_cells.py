"""An update sends only the cells that differ, and the terminal shows what it should."""

import io
import re
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from pinfold.tui.terminal_cells import UNKNOWN, TerminalCells, cells_of

WIDTH, HEIGHT = 12, 8
CONSOLE = Console(file=io.StringIO(), color_system="truecolor", force_terminal=True)
STYLES = [None, Style(bold=True), Style(color="red", bgcolor="#102030"), Style(link="http://a.b")]
CODE = re.compile(r"\x1b\[([\d;]*)([Hmr])|\x1b\]8;([^\x1b]*)\x1b\\|(\x1bM)|(\n)|([^\x1b\n]+)")

Piece = tuple[str, int]


class Grid:
    """A terminal that knows the few codes which an update may use, and no others."""

    def __init__(self) -> None:
        self.cells = [[(" ", "", "")] * WIDTH for _ in range(HEIGHT)]
        self.y = self.x = 0
        self.top, self.bottom = 0, HEIGHT - 1
        self.look = self.link = ""

    def feed(self, codes: str) -> None:
        at = 0
        while at < len(codes):
            found = CODE.match(codes, at)
            assert found, codes[at : at + 20]
            at = found.end()
            numbers, kind, link, back, down, text = found.groups()
            match kind:
                case "H":
                    self.y, self.x = (int(number) - 1 for number in numbers.split(";"))
                case "m":
                    self.look = re.sub(r"^0;?", "", numbers)
                case "r":
                    first, last = numbers.split(";") if numbers else (1, HEIGHT)
                    self.top, self.bottom, self.y, self.x = int(first) - 1, int(last) - 1, 0, 0
            if link is not None:
                self.link = link.partition(";")[2]
            elif back or down:
                edge, fills = (self.top, self.bottom) if back else (self.bottom, self.top)
                assert self.y == edge  # it scrolls, and does not only move the cursor
                del self.cells[fills]
                self.cells.insert(edge, [("~", "", "")] * WIDTH)
            elif text:
                self.write(text)

    def write(self, text: str) -> None:
        glyphs: list[str] = []
        for char in text:
            before = glyphs[-1] if glyphs else ""
            if before and (char == "\ufe0f" or cell_len(before + char) == cell_len(before)):
                glyphs[-1] += char
            else:
                glyphs.append(char)
        for glyph in glyphs:
            for part in [glyph, ""][: cell_len(glyph)]:
                self.cells[self.y][self.x] = (part, self.look, self.link)
                self.x += 1


def strip(pieces: Sequence[Piece]) -> Strip:
    return Strip([Segment(text, STYLES[style]) for text, style in pieces]).adjust_cell_length(WIDTH)


def whole(rows: Sequence[Strip]) -> LayoutUpdate:
    return LayoutUpdate([[row] for row in rows], Region(0, 0, WIDTH, HEIGHT))


def part(rows: Sequence[Strip], spans: list[tuple[int, int, int]], cut: int) -> ChopsUpdate:
    lines: list[dict[int, Strip | None]] = []
    for row in rows:
        left, right = row.divide([cut, WIDTH])
        lines.append({0: left, cut: right})
    return ChopsUpdate(lines, spans, [[cut, WIDTH]] * HEIGHT)


def painted(rows: Sequence[Strip], cut: int | None) -> list[Any]:
    grid = Grid()
    parts = [[row] if cut is None else row.divide([cut, WIDTH]) for row in rows]
    update = LayoutUpdate(parts, Region(0, 0, WIDTH, HEIGHT))
    grid.feed(update.render_segments(CONSOLE).replace("\n", ""))
    return grid.cells


texts = st.text("ab ─", max_size=4) | st.sampled_from(["", "你好", "e\u0301", "👩‍💻"])
rows = st.lists(st.tuples(texts, st.integers(0, 3)), max_size=3).map(strip)
screens = st.lists(rows, min_size=HEIGHT, max_size=HEIGHT)
steps = st.lists(st.tuples(st.integers(-3, 3), screens, st.integers(0, HEIGHT)), max_size=4)


@settings(max_examples=60)
@given(first=screens, steps=steps, cut=st.integers(1, WIDTH - 1))
def test_whatever_moves_or_changes_the_terminal_shows_it(
    first: list[Strip], steps: list[tuple[int, list[Strip], int]], cut: int
) -> None:
    grid, cells = Grid(), TerminalCells()
    grid.feed(cells.sequences(whole(first), CONSOLE))
    shown = first
    for by, fresh, still in steps:  # the rows above `still` move by `by`
        moved = [
            shown[y + by] if y < still and 0 <= y + by < still else fresh[y] for y in range(HEIGHT)
        ]
        update = part(moved, [(y, 0, WIDTH) for y in range(HEIGHT)], cut)
        grid.feed(cells.sequences(update, CONSOLE))
        assert grid.cells == painted(moved, cut)
        shown = moved


@settings(max_examples=40)
@given(first=screens, steps=steps, last=screens, cut=st.integers(1, WIDTH - 1))
def test_rows_that_are_held_keep_what_they_show_until_they_are_released(
    first: list[Strip],
    steps: list[tuple[int, list[Strip], int]],
    last: list[Strip],
    cut: int,
) -> None:
    live = 3
    grid, cells = Grid(), TerminalCells()
    grid.feed(cells.sequences(whole(first), CONSOLE))
    held = [cells_of([row], ColorSystem.TRUECOLOR) for row in first]
    cells.hold([row + [UNKNOWN] * (WIDTH - len(row)) for row in held], {live})
    shown = [row.copy() for row in grid.cells]
    for by, fresh in [*((by, fresh) for by, fresh, _ in steps), (1, last)]:
        spans = [(y, 0, WIDTH) for y in range(HEIGHT)]
        update = whole(fresh) if by > 0 else part(fresh, spans, cut)
        grid.feed(cells.sequences(update, CONSOLE))
        assert grid.cells[live] == painted(fresh, None if by > 0 else cut)[live]
        assert [row for y, row in enumerate(grid.cells) if y != live] == [
            row for y, row in enumerate(shown) if y != live
        ]
    grid.feed(cells.release())
    assert grid.cells == painted(last, None)


def lines(*texts: str) -> list[Strip]:
    return [strip([(text, 1)]) for text in (*texts, *[""] * HEIGHT)][:HEIGHT]


def test_rows_that_move_up_are_scrolled_and_only_the_new_one_is_sent() -> None:
    cells = TerminalCells()
    texts = ["one", "two", "three", "four", "five", "six", "seven"]
    cells.sequences(whole(lines(*texts, "prompt")), CONSOLE)
    spans = [(y, 0, WIDTH) for y in range(7)]
    sent = cells.sequences(part(lines(*texts[1:], "eight", "prompt"), spans, 11), CONSOLE)
    assert "\x1b[1;7r" in sent
    assert "eight" in sent
    assert not [text for text in [*texts, "prompt"] if text in sent]
    assert cells.sequences(part(lines(*texts[1:], "eight", "prompt"), spans, 11), CONSOLE) == ""


def test_what_something_else_may_have_written_over_is_sent_again() -> None:
    cells = TerminalCells()
    cells.sequences(whole(lines("one", "two")), CONSOLE)
    cells.forget()
    sent = cells.sequences(part(lines("one", "two"), [(0, 0, WIDTH)], 6), CONSOLE)
    assert "one" in sent
    assert "two" not in sent


def test_only_what_is_within_the_update_changes() -> None:
    grid, cells = Grid(), TerminalCells()
    grid.feed(cells.sequences(whole(lines("left right")), CONSOLE))
    update = part(lines("LEFT RIGHT"), [(0, 5, 9)], 5)
    grid.feed(cells.sequences(update, CONSOLE))
    assert "".join(text for text, *_ in grid.cells[0]) == "left RIGHT  "
