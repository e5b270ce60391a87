"""The column: entries one above the other, drawn only where somebody looks."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip

from pinfold.tui.transcript.lines import Line, width_of
from pinfold.tui.transcript.looks import Looks

if TYPE_CHECKING:
    from pinfold.tui.transcript.entries import Entry

GUTTER = 6
"""Columns of the item number and the cursor."""
NARROW = 60
"""Width of the screen below which the gutter holds the cursor alone."""
_KEPT = 300
"""Blocks whose lines are kept."""


class Block:
    """An entry in its place."""

    __slots__ = ("drawn", "entry", "gap", "height", "lines", "strips")

    def __init__(self, entry: "Entry") -> None:
        self.entry = entry
        self.gap = 1
        """Empty rows above it."""
        self.height = 1
        """Rows without the gap: an estimate until it is drawn."""
        self.drawn = False
        self.lines: list[Line] = []
        self.strips: list[Strip | None] = []
        """The finished rows of those lines that were looked at."""


class Column:
    """Blocks with their heights and rows at one width."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.width = 0
        self.looks: Looks | None = None
        self._tops: list[int] = [0]
        self._valid = 0
        """Blocks whose top is known; `_tops` has one more, the top of the next."""
        self._kept: dict[Block, None] = {}

    def __contains__(self, block: Block) -> bool:
        return any(block is other for other in reversed(self.blocks))

    @property
    def gutter(self) -> int:
        """Columns left of the entries."""
        return GUTTER if self.width >= NARROW else 1

    @property
    def height(self) -> int:
        """Rows in all, some of them estimated."""
        return self._measured()[-1]

    def top(self, index: int) -> int:
        """The first row of a block, its gap included."""
        return self._measured()[index]

    def index_at(self, y: int) -> int:
        """The block that holds row `y`, or the nearest."""
        index = bisect_right(self._measured(), y) - 1
        return max(0, min(index, len(self.blocks) - 1))

    def index_of(self, block: Block) -> int:
        """Where a block stands; quick for late ones."""
        for index in range(len(self.blocks) - 1, -1, -1):
            if self.blocks[index] is block:
                return index
        raise ValueError("the block is gone")

    def between(self, top: int, bottom: int) -> range:
        """The blocks with rows in `top` ..< `bottom`."""
        if not self.blocks or bottom <= top:
            return range(0)
        return range(self.index_at(top), self.index_at(bottom - 1) + 1)

    def append(self, entry: "Entry") -> Block:
        """Put an entry below the others."""
        block = Block(entry)
        self.blocks.append(block)
        block.height = entry.estimate(self._room)
        self._set_gap(len(self.blocks) - 1)
        self._changed(len(self.blocks) - 1)
        return block

    def remove(self, block: Block) -> None:
        """Take a block out."""
        index = self.index_of(block)
        del self.blocks[index]
        self._kept.pop(block, None)
        self._set_gap(index)
        self._changed(index)

    def clear(self) -> None:
        """Take everything out."""
        self.blocks.clear()
        self._kept.clear()
        self._changed(0)

    def restart(self, width: int, looks: Looks) -> None:
        """Another width or other looks: all rows are void, old heights serve as estimates."""
        self.width, self.looks = width, looks
        for block in list(self._kept):
            self._forget(block)

    def draw(self, index: int) -> None:
        """Make sure that a block's lines are there, once there are looks to draw them in."""
        block = self.blocks[index]
        self._kept.pop(block, None)
        self._kept[block] = None
        if block.drawn or self.looks is None:
            return
        block.lines = block.entry.draw(self._room, self.looks)
        block.strips = [None] * len(block.lines)
        block.drawn = True
        self._resize(index)
        while len(self._kept) > _KEPT:
            self._forget(next(iter(self._kept)))

    def redraw(self, block: Block) -> int:
        """Bring a block up to date with its entry; the first row that changed."""
        index = self.index_of(block)
        self._set_gap(index)
        self._set_gap(index + 1)
        if not block.drawn or self.looks is None:
            block.height = block.entry.estimate(self._room)
            self._changed(index)
            return self.top(index)
        start = block.entry.redraw(block.lines, self._room, self.looks)
        block.strips[start:] = [None] * (len(block.lines) - start)
        self._resize(index)
        return self.top(index) + block.gap + start

    def line(self, y: int) -> tuple[Block, int] | None:
        """The block and line at row `y`; none in a gap or below the end."""
        if not 0 <= y < self.height:
            return None
        index = self.index_at(y)
        self.draw(index)
        block = self.blocks[index]
        row = y - self.top(index) - block.gap
        return (block, row) if 0 <= row < len(block.lines) else None

    def strip(self, block: Block, row: int) -> Strip:
        """The finished row of a line, without cursor and selection."""
        strip = block.strips[row]
        if strip is None:
            strip = block.strips[row] = self._finish(block.lines[row])
        return strip

    def label(self, line: Line) -> str:
        """What the gutter says beside a line, without the cursor's column."""
        if self.gutter == 1:
            return ""
        return f"{f'#{line.number}' if line.number else '':>{GUTTER - 1}}"

    def lines(self, top: int, bottom: int) -> Iterator[tuple[int, Line | None]]:
        """Rows `top` ..< `bottom` with their lines; none for a gap."""
        for y in range(max(0, top), min(bottom, self.height)):
            found = self.line(y)
            yield y, found[0].lines[found[1]] if found else None

    @property
    def _room(self) -> int:
        return max(20, self.width - self.gutter)

    def _finish(self, line: Line) -> Strip:
        looks = self.looks
        assert looks is not None
        ground = line.fill or looks.base
        segments = [Segment(self.label(line) + " ", looks.base + looks.number)]
        segments += [
            Segment(text, ground + style if style else ground) for text, style, _ in line.segments
        ]
        space = self.width - self.gutter - width_of(line.segments)
        if space > 0:
            segments.append(Segment(" " * space, ground))
        return Strip(segments, self.gutter + width_of(line.segments) + max(0, space))

    def _set_gap(self, index: int) -> None:
        if not 0 <= index < len(self.blocks):
            return
        block = self.blocks[index]
        above = self.blocks[index - 1].entry if index else None
        gap = 0 if above is None or (above.quiet and block.entry.quiet) else 1
        if gap != block.gap:
            block.gap = gap
            self._changed(index)

    def _resize(self, index: int) -> None:
        block = self.blocks[index]
        if block.height != len(block.lines):
            block.height = len(block.lines)
            self._changed(index)

    def _forget(self, block: Block) -> None:
        block.drawn = False
        block.lines, block.strips = [], []
        self._kept.pop(block, None)

    def _changed(self, index: int) -> None:
        self._valid = min(self._valid, index)

    def _measured(self) -> list[int]:
        tops, blocks = self._tops, self.blocks
        if self._valid < len(blocks) or len(tops) != len(blocks) + 1:
            del tops[self._valid + 1 :]
            y = tops[-1]
            for block in blocks[self._valid :]:
                y += block.gap + block.height
                tops.append(y)
            self._valid = len(blocks)
        return tops
