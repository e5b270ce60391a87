"""The search of the find bar: over the text of every entry, shown, closed or archived."""

from __future__ import annotations

import asyncio
import re
import time
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from pinfold.tui.transcript.column import Block, Column, Hits
from pinfold.tui.transcript.lines import TranscriptLine

if TYPE_CHECKING:
    from pinfold.rollout.items import Item

SLICE = 0.008
"""Seconds of searching between two chances for keys and paints."""

_MARKS = re.compile(r"\*\*|~~|`")
"""What Markdown leaves out when it is drawn."""


def lowered(text: str) -> str:
    """`text` in lower case, of the same length."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


class Needle:
    """What is looked for. A capital letter makes it case-sensitive."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.exact = text != lowered(text)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where it is in `text`, as start and end."""
        if not self.exact:
            text = lowered(text)
        at = text.find(self.text)
        while at >= 0:
            yield at, at + len(self.text)
            at = text.find(self.text, at + len(self.text))

    def hits(self, lines: list[TranscriptLine]) -> Hits:
        """Where it is in drawn lines. Rows that were only wrapped count as one.

        A match over two rows is marked on the first.
        """
        pieces, starts = [], []
        at = 0
        for line in lines:
            pieces.append(line.text[line.lead :] + line.joint)
            starts.append(at)
            at += len(pieces[-1])
        hits: Hits = {}
        for nth, (start, end) in enumerate(self.spans("".join(pieces))):
            row = bisect_right(starts, start) - 1
            line = lines[row]
            first = line.lead + start - starts[row]
            last = min(first + end - start, len(line.text))
            hits.setdefault(row, []).append((nth, first, last))
        return hits


class _Text:
    """The text of one entry, ready to be searched many times."""

    def __init__(self, items: tuple[Item, ...], text: str) -> None:
        self.items = items
        self._plain = [text]
        if (drawn := _MARKS.sub("", text)) != text:
            self._plain.append(drawn)
        self._lower: list[str] | None = None

    def count(self, needle: Needle) -> int:
        if needle.exact:
            return max(text.count(needle.text) for text in self._plain)
        if self._lower is None:
            self._lower = [lowered(text) for text in self._plain]
        return max(text.count(needle.text) for text in self._lower)


class Match(NamedTuple):
    """One place that was found."""

    block: Block
    nth: int
    """Which match in its block, from 0."""
    of: int
    """How many the block has."""


class Search:
    """The matches of one needle in a column."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._texts: dict[Block, _Text] = {}
        self._hits: list[tuple[Block, int]] = []
        self._ends: list[int] = []
        """How many matches there are up to the end of each of `_hits`."""
        self.needle: Needle | None = None
        self.at: int | None = None
        """Which match is the current one, from 0."""

    @property
    def total(self) -> int:
        return self._ends[-1] if self._ends else 0

    @property
    def match(self) -> Match | None:
        """The current match."""
        if self.at is None:
            return None
        i = bisect_right(self._ends, self.at)
        block, of = self._hits[i]
        return Match(block, self.at - (self._ends[i] - of), of)

    async def run(self, needle: Needle, origin: Block | None) -> None:
        """Find all matches. The first from `origin` on becomes current, else the last.

        It works in slices: cancel it when there is another needle.
        """
        hits: list[tuple[Block, int]] = []
        before: int | None = 0 if origin is None else None
        pause = time.perf_counter() + SLICE
        blocks = self._column.blocks
        for i, block in enumerate(list(blocks)):
            if block is origin:
                before = len(hits)
            if count := self._text(block).count(needle):
                hits.append((block, count))
            if i % 8 == 0 and time.perf_counter() > pause:
                await asyncio.sleep(0)
                pause = time.perf_counter() + SLICE
        self.needle, self._hits = needle, hits
        self._column.forget_hits()
        self._ends = list(accumulate(count for _, count in hits))
        self.at = None
        if hits and before is not None and before < len(hits):
            self.at = self._ends[before] - hits[before][1]
        elif hits:
            self.at = self.total - 1

    def step(self, by: int) -> None:
        """Make the next or previous match current; from the last one on with the first."""
        if self.at is not None:
            self.at = (self.at + by) % self.total

    def add(self, block: Block) -> None:
        """A new entry came, or an item took the place of what streamed in: late in the column."""
        if self.needle is None:
            return
        current = self.at
        if self._hits and self._hits[-1][0] is block:
            self._hits.pop()
            self._ends.pop()
        if count := self._text(block).count(self.needle):
            self._hits.append((block, count))
            self._ends.append(self.total + count)
        self.at = min(current or 0, self.total - 1) if self.total else None

    def drawn(self, block: Block) -> Hits:
        """The matches in the lines of `block` as it is drawn now."""
        if block.hits is None:
            block.hits = self.needle.hits(block.lines) if self.needle else {}
        return block.hits

    def clear(self) -> None:
        """Forget the needle, and all that was kept to be quick."""
        self._texts.clear()
        self._hits, self._ends = [], []
        self.needle = self.at = None
        self._column.forget_hits()

    def _text(self, block: Block) -> _Text:
        entry = block.entry
        text = self._texts.get(block)
        if text is None or text.items != entry.items or not entry.items:
            text = self._texts[block] = _Text(entry.items, entry.searched)
        return text
