"""Counting a text while it streams in."""

from pinfold.tokens.counter import Counter
from pinfold.tokens.pieces import LIMIT, last_cut

_LONG = 2_048
"""Characters without a cut above which not every delta is counted."""
_GROWTH = 1.25


class StreamCount:
    """The tokens of a text so far, at a cost that does not grow with the text.

    What is before the last cut is counted once. The rest is counted at each delta, and while it
    is longer than 2 KB, where it has grown by a quarter; in between it is extrapolated.
    """

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._settled = 0
        self._estimated: list[str] = []
        """Text settled before the encoding was loaded."""
        self._tail = ""
        self._known = (0, 0)
        """Characters and tokens of the tail when it was last counted."""

    def push(self, delta: str) -> int:
        """Take the next piece; the total so far."""
        seen = max(len(self._tail) - 2, 0)
        self._tail += delta
        if cut := last_cut(self._tail, seen, len(self._tail)):
            self._settle(cut)
        while len(self._tail) > LIMIT:
            self._settle(LIMIT)
        return self._settled + self._tail_tokens()

    def finish(self) -> int:
        """The total, exact if the encoding is loaded by now."""
        self._settle(len(self._tail))
        return self._settled

    def _settle(self, length: int) -> None:
        head, self._tail = self._tail[:length], self._tail[length:]
        self._known = (0, 0)
        if not self._counter.loaded:
            self._estimated.append(head)
        elif self._estimated:
            head = "".join(self._estimated) + head
            self._estimated.clear()
            self._settled = 0
        self._settled += self._counter.measure(head)

    def _tail_tokens(self) -> int:
        characters, tokens = self._known
        if len(self._tail) > _LONG and len(self._tail) < characters * _GROWTH:
            return round(tokens * len(self._tail) / characters)
        tokens = self._counter.measure(self._tail)
        self._known = (len(self._tail), tokens)
        return tokens
