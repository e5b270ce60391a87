"""Outlines: what a long transcript knows of entries that nobody has looked at yet."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pinfold.window.bodies import Head

if TYPE_CHECKING:
    from pinfold.tui.transcript.entries import Entry

CLOSED = 8
"""Rows that a closed entry takes at most, about."""


class Outline:
    """An entry that is still to be made."""

    __slots__ = ("_head", "closes", "make", "quiet")

    def __init__(
        self, head: Head, make: "Callable[[], Entry]", *, closes: bool, quiet: bool
    ) -> None:
        """`head` is of the item that fills it; the others tell what the entry will be like."""
        self._head = head
        self.make = make
        self.closes = closes
        self.quiet = quiet

    def estimate(self, width: int, *, closed: bool) -> int:
        """About how many rows it takes."""
        head = self._head
        closed = closed and self.closes
        if closed and (self.quiet or head.kind == "reasoning"):
            return 1
        rows = 1 + head.lines + head.characters // max(1, width)
        return min(CLOSED, rows) if closed else rows
