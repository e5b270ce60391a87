"""The column: entries one above the other, drawn only where somebody looks."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from textual.strip import Strip

from pinfold.tui.transcript.lines import TranscriptLine, width_of
from pinfold.tui.transcript.looks import Looks
from pinfold.tui.transcript.outline import Outline
from pinfold.tui.transcript.standing import SEEN, Standings, standing_of

if TYPE_CHECKING:
    from pinfold.tui.transcript.entries import TranscriptEntry

DIGITS = 3
"""Room for item numbers at first; it grows with them."""
NARROW = 60
"""Width of the screen below which the gutter holds sign or cursor alone."""
KEPT = 400
"""Rows that are kept drawn. A row is dozens of objects, and the garbage collector visits all."""
_UNDRAWN: list[Any] = []
"""The rows of every block that is not drawn: one for all, and nobody changes it."""

Hits = dict[int, list[tuple[int, int, int]]]
"""Matches of a search by row: which one in the block, and its first and last column."""


class Block:
    """An entry in its place."""

    __slots__ = (
        "_closed",
        "_made",
        "_outline",
        "drawn",
        "gap",
        "height",
        "hits",
        "lines",
        "standing",
        "strips",
    )

    def __init__(self, entry: "TranscriptEntry | Outline") -> None:
        self._made: TranscriptEntry | None = None
        self._outline: Outline | None = None
        self._closed = True
        """Whether it is to be made closed, where it can be."""
        if isinstance(entry, Outline):
            self._outline = entry
        else:
            self._made = entry
        self.gap = 1
        """Empty rows above it."""
        self.height = 1
        """Rows without the gap: an estimate until it is drawn."""
        self.drawn = False
        self.lines: list[TranscriptLine] = _UNDRAWN
        self.strips: list[Strip | None] = _UNDRAWN
        """The finished rows of those lines that were looked at."""
        self.standing = SEEN
        """As those rows tell it."""
        self.hits: Hits | None = None
        """None until somebody asks."""

    @property
    def entry(self) -> "TranscriptEntry":
        """What is here; made when somebody first looks."""
        if self._made is None:
            assert self._outline is not None
            self._made, self._outline = self._outline.make(), None
            if self._made.closes:
                self._made.closed = self._closed
        return self._made

    @property
    def quiet(self) -> bool:
        if self._outline is not None:
            return self._outline.quiet and self._closed
        return self.entry.quiet

    def estimate(self, width: int) -> int:
        if self._outline is not None:
            return self._outline.estimate(width, closed=self._closed)
        return self.entry.estimate(width)

    def close(self, closed: bool) -> None:
        """Close or open it, if it is one that starts closed."""
        self._closed = closed
        if self._made is not None and self._made.closes:
            self._made.closed = closed


class Column:
    """Blocks with their heights and rows at one width."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.width = 0
        self.looks: Looks | None = None
        self.window: Standings | None = None
        """How items are in the window; without it, the model sees all."""
        self._digits = DIGITS
        self._tops: list[int] = [0]
        self._valid = 0
        """Blocks whose top is known; `_tops` has one more, the top of the next."""
        self._kept: dict[Block, None] = {}

    def __contains__(self, block: Block) -> bool:
        return any(block is other for other in reversed(self.blocks))

    @property
    def gutter(self) -> int:
        """Columns left of the entries: sign, number and cursor."""
        return 3 + self._digits if self.width >= NARROW else 1

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
        """The place of a block; quick for late ones."""
        for index in range(len(self.blocks) - 1, -1, -1):
            if self.blocks[index] is block:
                return index
        raise ValueError("the block is gone")

    def between(self, top: int, bottom: int) -> range:
        """The blocks with rows in `top` ..< `bottom`."""
        if not self.blocks or bottom <= top:
            return range(0)
        return range(self.index_at(top), self.index_at(bottom - 1) + 1)

    def append(self, entry: "TranscriptEntry | Outline") -> Block:
        """Put an entry below the others, or what is to become one."""
        block = Block(entry)
        self.blocks.append(block)
        block.height = block.estimate(self._room)
        self._set_gap(len(self.blocks) - 1)
        self._changed(len(self.blocks) - 1)
        return block

    def prepend(self, entries: "Iterable[TranscriptEntry | Outline]") -> list[Block]:
        """Put entries above the others, or what is to become some."""
        blocks = [Block(entry) for entry in entries]
        room = self._room
        for block in blocks:
            block.height = block.estimate(room)
        self.blocks[:0] = blocks
        for index in range(len(blocks) + 1):
            self._set_gap(index)
        self._changed(0)
        return blocks

    def remove(self, block: Block) -> None:
        """Take a block out."""
        index = self.index_of(block)
        del self.blocks[index]
        self._kept.pop(block, None)
        self._set_gap(index)
        self._changed(index)

    def clear(self) -> None:
        self.blocks.clear()
        self._kept.clear()
        self._digits = DIGITS
        self._changed(0)

    def make_room(self, n: int) -> bool:
        """Widen the gutter where the number `n` asks for it; whether that was so."""
        if len(str(n)) <= self._digits:
            return False
        self._digits = len(str(n))
        self._forget_all()
        return True

    def restart(self, width: int, looks: Looks) -> None:
        """Another width or other looks: all rows are void, old heights serve as estimates."""
        self.width, self.looks = width, looks
        self._forget_all()

    def draw(self, index: int) -> None:
        """Make sure that a block's lines are there, once there are looks to draw them in."""
        block = self.blocks[index]
        self._kept.pop(block, None)
        self._kept[block] = None
        if block.drawn or self.looks is None:
            return
        block.lines = block.entry.draw(self._room, self.looks)
        block.strips = [None] * len(block.lines)
        block.standing = standing_of(block.entry.items, self.window)
        block.hits = None
        block.drawn = True
        self._set_gap(index)
        self._set_gap(index + 1)
        self._resize(index)

    def trim(self, seen: int) -> None:
        """Release the rows that were not looked at for longest, but the last `seen` blocks."""
        rows = sum(len(block.lines) for block in self._kept)
        while rows > KEPT and len(self._kept) > seen:
            block = next(iter(self._kept))
            rows -= len(block.lines)
            self._forget(block)

    def redraw(self, block: Block) -> int:
        """Bring a block up to date with its entry; the first row that changed."""
        index = self.index_of(block)
        self._set_gap(index)
        self._set_gap(index + 1)
        if not block.drawn or self.looks is None:
            block.height = block.estimate(self._room)
            self._changed(index)
            return self.top(index)
        start = block.entry.redraw(block.lines, self._room, self.looks)
        block.hits = None
        if self._mark(block):
            start = 0
        block.strips[start:] = [None] * (len(block.lines) - start)
        self._resize(index)
        return self.top(index) + block.gap + start

    def forget_hits(self) -> None:
        """The search has changed."""
        for block in self._kept:
            block.hits = None

    def mark(self) -> list[Block]:
        """Bring signs up to date; the blocks that look different now."""
        return [block for block in self._kept if self._mark(block)]

    def _mark(self, block: Block) -> bool:
        standing = standing_of(block.entry.items, self.window)
        if standing == block.standing:
            return False
        block.standing = standing
        block.strips = [None] * len(block.strips)
        return True

    def void(self) -> None:
        """Entries have changed everywhere: draw them again where somebody looks."""
        for block in self.blocks:
            self._forget(block)
            block.height = block.estimate(self._room)
        self._changed(0)

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
            strip = block.strips[row] = self._finish(block, block.lines[row])
        return strip

    def lines(self, top: int, bottom: int) -> Iterator[tuple[int, TranscriptLine | None]]:
        """Rows `top` ..< `bottom` with their lines; none for a gap."""
        for y in range(max(0, top), min(bottom, self.height)):
            found = self.line(y)
            yield y, found[0].lines[found[1]] if found else None

    @property
    def _room(self) -> int:
        return max(20, self.width - self.gutter)

    def _finish(self, block: Block, line: TranscriptLine) -> Strip:
        looks = self.looks
        assert looks is not None
        ground = line.fill or looks.base
        segments = self._gutter(block, line, looks)
        for text, style, _ in line.segments:
            ink = ground + style if style else ground
            if style and block.standing.unseen:
                ink += looks.unseen
            segments.append(Segment(text, ink))
        space = self.width - self.gutter - width_of(line.segments)
        if space > 0:
            segments.append(Segment(" " * space, ground))
        return Strip(segments, self.gutter + width_of(line.segments) + max(0, space))

    def _gutter(self, block: Block, line: TranscriptLine, looks: Looks) -> list[Segment]:
        """The sign and the number beside a line, and the cursor's column."""
        sign = block.standing.signs.get(line.number, " ")
        number = f"#{line.number}" if line.number else ""
        text = f"{sign}{number:>{self.gutter - 2}} " if self.gutter > 1 else sign
        dim = looks.base + looks.number
        if sign == " ":
            return [Segment(text, dim)]
        return [Segment(sign, looks.base + looks.bar), Segment(text[1:], dim)]

    def _set_gap(self, index: int) -> None:
        if not 0 <= index < len(self.blocks):
            return
        block = self.blocks[index]
        above = self.blocks[index - 1] if index else None
        gap = 0 if above is None or (above.quiet and block.quiet) else 1
        if gap != block.gap:
            block.gap = gap
            self._changed(index)

    def _resize(self, index: int) -> None:
        block = self.blocks[index]
        if block.height != len(block.lines):
            block.height = len(block.lines)
            self._changed(index)

    def _forget_all(self) -> None:
        for block in list(self._kept):
            self._forget(block)

    def _forget(self, block: Block) -> None:
        block.drawn = False
        block.lines, block.strips = _UNDRAWN, _UNDRAWN
        self._kept.pop(block, None)

    def _changed(self, index: int) -> None:
        self._valid = min(self._valid, index)

    def _measured(self) -> list[int]:
        tops, blocks = self._tops, self.blocks
        if self._valid < len(blocks) or len(tops) != len(blocks) + 1:
            valid = self._valid
            sizes = [block.gap + block.height for block in blocks[valid:]]
            tops[valid:] = accumulate(sizes, initial=tops[valid])
            self._valid = len(blocks)
        return tops
