"""Lines of the ledger: a tree of text from which the best are placed while they fit."""

import heapq
import itertools
from collections.abc import Callable, Iterable

from msgspec import Struct

Count = Callable[[str], int]

_MISSES = 200
"""Candidates in a row that do not fit, after which no other is tried."""
_COST_POWER = 1.2
"""1 ranks by worth a token, 0 by worth alone; more favours lines that have begun."""


class Node(Struct, eq=False):
    """A line, or a part of one. It shows only with what it stands under."""

    text: str
    parent: "Node | None" = None
    inline: bool = False
    """A part of its parent's line."""
    joint: str = " "
    """Between its text and those parts."""
    between: str = " "
    """Between one of those parts and the next."""
    children: list["Node"] = []
    """Those that are placed."""
    rank: int = 0
    """Lines show by rank, those of one rank in the order in which they were placed."""
    placed: bool = False
    tokens: int = 0
    """What it adds to the text, once counted."""

    def piece(self) -> str:
        return f" {self.text}" if self.inline else f"\n{self.text}"

    def lines(self) -> list[str]:
        below = [child.lines() for child in self._ranked() if not child.inline]
        return [self._line(), *itertools.chain.from_iterable(below)]

    def _line(self) -> str:
        if not self.children:
            return self.text
        parts = self.between.join(child._line() for child in self._ranked() if child.inline)
        return f"{self.text}{self.joint}{parts}" if parts else self.text

    def _ranked(self) -> list["Node"]:
        return sorted(self.children, key=lambda child: child.rank)


class Candidate(Struct, frozen=True, gc=False):
    worth: float
    node: Node


class Filling:
    """Places candidates under `root` while they fit into `budget` tokens."""

    def __init__(self, root: Node, budget: int, count: Count) -> None:
        self._root = root
        self._budget = budget
        self._count = count
        self._left = budget - count(root.text)
        root.placed = True
        self._placed: list[Node] = []

    def place(self, node: Node) -> list[Node] | None:
        """The nodes that `node` brings along, itself included; none where they do not fit."""
        chain = _missing(node)
        cost = self._cost(chain)
        if cost > self._left:
            return None
        self._left -= cost
        for each in chain:
            each.placed = True
            if each.parent:
                each.parent.children.append(each)
        self._placed += chain
        return chain

    def place_best(self, candidates: Iterable[Candidate]) -> None:
        """Those of the most worth for what they take, which shrinks as their line comes in."""
        under: dict[Node, list[Candidate]] = {}
        heap: list[tuple[float, int, Candidate]] = []
        nth = itertools.count()

        def offer(candidate: Candidate, chain: list[Node]) -> None:
            cost = self._cost(chain) or 1
            value = candidate.worth / cost**_COST_POWER
            heapq.heappush(heap, (-value, next(nth), candidate))

        for candidate in candidates:
            chain = _missing(candidate.node)
            offer(candidate, chain)
            for node in chain[:-1]:
                under.setdefault(node, []).append(candidate)
        misses = 0
        while heap and misses <= _MISSES:
            candidate = heapq.heappop(heap)[-1]
            if candidate.node.placed:
                continue
            placed = self.place(candidate.node)
            misses = 0 if placed else misses + 1
            for node in placed or ():
                for other in under.pop(node, ()):
                    if not other.node.placed:
                        offer(other, _missing(other.node))

    def text(self) -> str:
        """What is placed; empty where that is nothing."""
        text = "\n".join(self._root.lines())
        while self._placed and self._count(text) > self._budget:
            node = self._placed.pop()
            if node.parent:
                node.parent.children.remove(node)
            text = "\n".join(self._root.lines())
        return text if self._placed else ""

    def _cost(self, chain: list[Node]) -> int:
        cost = 0
        for node in chain:
            if not node.tokens:
                node.tokens = self._count(node.piece())
            cost += node.tokens
        return cost


def _missing(node: Node) -> list[Node]:
    """`node` and what it stands under, as far as not yet placed, outermost first."""
    chain: list[Node] = []
    at: Node | None = node
    while at is not None and not at.placed:
        chain.append(at)
        at = at.parent
    return chain[::-1]
