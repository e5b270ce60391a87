"""The past of a transcript: items that were there before it, taken from the end."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from pinfold.window.archive import Archive, ArchivedItems
from pinfold.window.bodies import ItemHead

if TYPE_CHECKING:
    from pinfold.window.window import Boundary


class Past:
    """What of it is not shown yet. It is long, and the end is what one looks at first."""

    def __init__(self, items: ArchivedItems, boundaries: "Sequence[Boundary]" = ()) -> None:
        self.archive: Archive = items.archive
        self._numbers = items.numbers
        self._inside = frozenset(items.numbers)
        self._left = len(items.numbers)
        places = (bisect_right(items.numbers, boundary.last) for boundary in boundaries)
        self._rules = list(zip(accumulate(places, max), boundaries, strict=True))
        """The ends of windows, each with how many items are above it."""

    def __bool__(self) -> bool:
        return self._left > 0 or bool(self._rules)

    def take(self, count: int) -> "Iterator[ItemHead | Boundary]":
        """The next `count` items, and the ends of windows between them, in their order.

        A result comes with its call; an empty thought is left out.
        """
        end, self._left = self._left, max(0, self._left - count)
        rules = deque(rule for rule in self._rules if rule[0] >= self._left)
        self._rules = [rule for rule in self._rules if rule[0] < self._left]
        for at in range(self._left, end):
            while rules and rules[0][0] <= at:
                yield rules.popleft()[1]
            head = self.archive.head(self._numbers[at])
            if head.kind == "reasoning" and not head.characters:
                continue
            if head.kind != "tool_result" or self.archive.partner(head.n) not in self._inside:
                yield head
        for _, boundary in rules:
            yield boundary
