"""Lines of the ledger, placed one by one while they fit."""

import itertools
from collections.abc import Callable, Iterable

from msgspec import Struct

Count = Callable[[str], int]

_PROBE = "{}()[]<>|&%$#@!~^"
_REMEMBERED = 65_536


class Sizes(dict[str, int]):
    """The tokens of texts, each counted once."""

    def __init__(self, count: Count) -> None:
        self.count = count
        self._probe = count(_PROBE)

    def __missing__(self, text: str) -> int:
        if len(self) > _REMEMBERED:
            self.clear()
        self[text] = tokens = self.count(text)
        return tokens

    def hold(self, count: Count) -> bool:
        """Whether `count` would say the same; an encoding that has loaded since would not."""
        return count == self.count and count(_PROBE) == self._probe


class Line(Struct, eq=False):
    """A line, or a part of one. It shows only with what it stands under."""

    text: str
    under: "Line | None" = None
    inline: bool = False
    """A part of the line above it."""
    joint: str = " "
    """Between its text and what it holds."""
    between: str = " "
    """Between its parts."""
    rank: int = 0
    """Lines show by rank, those of one rank in the order in which they were placed."""
    parts: list["Line"] = []
    """Those that are placed under it."""
    names: list[str] = []
    """Those that are placed in it."""
    placed: bool = False

    def piece(self) -> str:
        return f" {self.text}" if self.inline else f"\n{self.text}"

    def lines(self) -> list[str]:
        below = [line.lines() for line in self._ranked() if not line.inline]
        return [self._line(), *itertools.chain.from_iterable(below)]

    def _line(self) -> str:
        held = [line._line() for line in self._ranked() if line.inline]
        if self.names:
            held.append(" ".join(self.names))
        return f"{self.text}{self.joint}{self.between.join(held)}" if held else self.text

    def _ranked(self) -> list["Line"]:
        return sorted(self.parts, key=lambda line: line.rank)


class Filling:
    """Places lines and names under `root` while they fit into `budget` tokens."""

    def __init__(self, root: Line, budget: int, sizes: Sizes) -> None:
        self._root = root
        self._budget = budget
        self._sizes = sizes
        self.left = budget - sizes[root.text]
        root.placed = True
        self._placed: list[Line] = []
        """Once for itself, and once for each name in it."""

    def cost(self, line: Line) -> int:
        """Tokens of a line and of those above it, as far as they are not placed."""
        cost = 0
        at: Line | None = line
        while at is not None and not at.placed:
            cost += self._sizes[at.piece()]
            at = at.under
        return cost

    def place(self, line: Line, name: str = "") -> int:
        """The tokens that `line`, or a name in it, takes; 0 where that does not fit."""
        cost = self._sizes[f" {name}"] if name else 0
        if not line.placed:
            cost += self.cost(line)
        if cost > self.left:
            return 0
        self.left -= cost
        self._show(line)
        if name:
            line.names.append(name)
            self._placed.append(line)
        return cost

    def place_first(self, lines: Iterable[Line], share: float) -> list[Line]:
        """Place what fits into `share` tokens; the rest is returned."""
        late: list[Line] = []
        for line in lines:
            cost = self._sizes[line.piece()]
            if cost > share or not self.place(line):
                late.append(line)
            else:
                share -= cost
        return late

    def text(self) -> str:
        """What is placed; empty where that is nothing."""
        text = "\n".join(self._root.lines())
        while self._placed and self._sizes.count(text) > self._budget:
            line = self._placed.pop()
            if line.names:
                line.names.pop()
            elif line.under:
                line.under.parts.remove(line)
            text = "\n".join(self._root.lines())
        return text if self._placed else ""

    def _show(self, line: Line) -> None:
        if line.placed:
            return
        line.placed = True
        if line.under:
            self._show(line.under)
            line.under.parts.append(line)
        self._placed.append(line)
