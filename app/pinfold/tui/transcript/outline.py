"""Outlines: what a long transcript knows of entries that nobody has looked at yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

    from pinfold.tui.transcript.entries import TranscriptEntry
    from pinfold.window.bodies import ItemHead

CLOSED = 8
"""Rows that a closed entry takes at most, about."""


# There are tens of thousands of them, and the garbage collector would visit each.
class Outline(Struct, frozen=True, gc=False):
    """An entry that is still to be made."""

    head: ItemHead
    """Of the item that fills it."""
    n: int
    """The item that it is made from."""
    maker: Callable[[int], TranscriptEntry]
    closes: bool
    """Like `quiet`, as the entry will be."""
    quiet: bool

    def make(self) -> TranscriptEntry:
        return self.maker(self.n)

    def estimate(self, width: int, *, closed: bool) -> int:
        """About how many rows it takes."""
        head = self.head
        closed = closed and self.closes
        if closed and (self.quiet or head.kind == "reasoning"):
            return 1
        rows = 1 + head.lines + head.characters // max(1, width)
        return min(CLOSED, rows) if closed else rows
