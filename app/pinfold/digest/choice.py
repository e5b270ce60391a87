"""Which lines stand: those that tell most for what they take.

A line is worth the information of the words that the chosen lines do not have yet, per token,
times who said it, times its age. That is a weighted coverage, which is submodular: greedy choice,
evaluated lazily, is near the best (Lin and Bilmes 2011, "A Class of Submodular Functions for
Document Summarization").
"""

import heapq
from collections.abc import Collection, Sequence

from msgspec import Struct

from pinfold.digest.lines import SPEAKER, WEIGHT, Kind, Line
from pinfold.digest.record import Record
from pinfold.digest.words import information, tokens

NUMBER = 4
"""Tokens of an item's number before its first line."""
PASTED = 4
"""Pasted text takes at most one part in so many of the digest."""
_PER_LINE = 8
"""Tokens that each line counts beyond its own: many short ones are harder to read."""
_ONCE: frozenset[Kind] = frozenset({"commit", "edit", "failed"})
_SLOW = [256 - 102 * age // 256 for age in range(257)]
_FAST = [int(256 * 0.25 ** (age / 256)) for age in range(257)]
"""What a line counts by its age in 1/256 of the session: the user's words fade slowly."""


class Digest(Struct, frozen=True):
    """Lines in their order, and what was left out."""

    lines: tuple[Line, ...]
    left: tuple[Line, ...]
    full: frozenset[int] = frozenset()
    """Positions of the lines that stand in their full form."""
    repeated: tuple[int, ...] = ()
    """How often each was said or done."""


def choose(
    record: Record,
    budget: int,
    standing: Collection[int] = (),
    told: Collection[str] = (),
    kept: Collection[str] = (),
) -> Digest:
    """At most `budget` tokens of lines.

    Items of the numbers `standing` are in the window as they are and give none, nor does what
    stands in `told`, texts in lower case. Lines with the keys `kept` stand before all others.
    """
    lines = [
        line
        for line in record.lines()
        if line.n not in standing and line.text.casefold() not in told
    ]
    return _Choice(lines, record, budget).digest(kept)


def take_best(lines: Sequence[Line], record: Record, budget: int) -> list[Line]:
    """Of some lines those that tell most in at most `budget` tokens, in their order."""
    choice = _Choice(lines, record, budget)
    return [lines[at] for at in sorted(choice.greedy(range(len(lines))))]


class _Choice:
    def __init__(self, lines: Sequence[Line], record: Record, budget: int) -> None:
        self._lines = lines
        self._budget = budget
        self._times = [record.times(line.key) for line in lines]
        self._scale = [
            _scale(line, times, record.places)
            for line, times in zip(lines, self._times, strict=True)
        ]
        self._by_user: set[str] = set()
        self._by_all: set[str] = set()
        self._numbered: set[int] = set()
        self._pasted = 0
        self.left = budget

    def digest(self, kept: Collection[str]) -> Digest:
        lines = self._lines
        users = {at for at, line in enumerate(lines) if line.kind == "user"}
        if sum(lines[at].cost + NUMBER for at in users) > self._budget // 2:
            users = set()
        chosen: list[int] = []
        for at, line in enumerate(lines):
            if (at in users or line.key in kept) and self._cost(at) <= self.left:
                self._take(at)
                chosen.append(at)
        taken = set(chosen)
        rest = [at for at in range(len(lines)) if at not in taken]
        last = [at for at in rest if lines[at].kind == "found"]
        rest = [at for at in rest if lines[at].kind != "found"]
        chosen += rest if self._take_all(rest) else self.greedy(rest)
        chosen += self.greedy(last)
        full = self._widened(chosen)
        chosen.sort()
        stands = set(chosen)
        return Digest(
            tuple(lines[at] for at in chosen),
            tuple(line for at, line in enumerate(lines) if at not in stands),
            frozenset(chosen.index(at) for at in full),
            tuple(self._times[at] for at in chosen),
        )

    def greedy(self, places: Sequence[int]) -> list[int]:
        heap = [(-self._most(at), at) for at in places]
        heapq.heapify(heap)
        chosen: list[int] = []
        lines = self._lines
        while heap and self.left > NUMBER:
            at = heap[0][1]
            line = lines[at]
            cost = self._cost(at)
            over = line.kind == "pasted" and (self._pasted + cost) * PASTED > self._budget
            if cost > self.left or over:
                heapq.heappop(heap)
                continue
            now = -self._gain(at)
            if now > heap[0][0]:  # others tell what it tells
                heapq.heapreplace(heap, (now, at))
                if heap[0][1] != at:
                    continue
            heapq.heappop(heap)
            if now >= 0 and line.kind != "user":
                continue
            chosen.append(at)
            self._take(at)
        return chosen

    def _take_all(self, places: Sequence[int]) -> bool:
        """Take them, if all fit: nothing needs to be ranked then."""
        lines = self._lines
        pasted = sum(lines[at].cost for at in places if lines[at].kind == "pasted")
        new = {lines[at].n for at in places} - self._numbered
        cost = sum(lines[at].cost for at in places) + NUMBER * len(new)
        if cost > self.left or pasted * PASTED > self._budget:
            return False
        for at in places:
            self._take(at)
        return True

    def _cost(self, at: int) -> int:
        line = self._lines[at]
        return line.cost + (0 if line.n in self._numbered else NUMBER)

    def _take(self, at: int) -> None:
        line = self._lines[at]
        cost = self._cost(at)
        self.left -= cost
        self._numbered.add(line.n)
        self._pasted += cost if line.kind == "pasted" else 0
        self._by_all.update(line.words)
        if line.kind == "user":
            self._by_user.update(line.words)

    def _most(self, at: int) -> int:
        """The gain while no line stands."""
        line = self._lines[at]
        return line.told * self._scale[at] // (line.cost + _PER_LINE)

    def _gain(self, at: int) -> int:
        line = self._lines[at]
        # What the agent repeats does not stand for the user's words.
        have = self._by_user if line.kind == "user" else self._by_all
        told = sum(information(word) for word in line.words if word not in have)
        return told * self._scale[at] // (line.cost + _PER_LINE)

    def _widened(self, chosen: Sequence[int]) -> list[int]:
        """The lines whose full form fits as well, by their worth."""
        full: list[int] = []
        for at in chosen:
            if 0 < self._lines[at].more <= self.left:
                self.left -= self._lines[at].more
                full.append(at)
        return full


def _scale(line: Line, times: int, places: int) -> int:
    """Weight times age, in 1/(20 · 256 · 256)."""
    age = min(256, 256 * (places - line.place) // max(1, places))
    fresh = (_SLOW if line.kind == "user" else _FAST)[age]
    weight = WEIGHT[line.kind] * line.percent * 256 // 100
    if line.kind == "run":
        weight += weight * (times.bit_length() - 1)  # how things are done here
    elif line.kind not in _ONCE:
        weight //= times  # boilerplate
    return weight * fresh


def render(digest: Digest) -> str:
    """A line each; lines of one item and speaker share the number and the name."""
    told: list[str] = []
    before: tuple[int, str] = (0, "")
    for at, line in enumerate(digest.lines):
        speaker = SPEAKER.get(line.kind, "")
        text = line.lead + (line.full if at in digest.full else line.text)
        if line.kind == "run" and digest.repeated[at] > 1:
            text += f" ({digest.repeated[at]} times)"
        if line.n != before[0]:
            told.append(f"#{line.n} {speaker}{text}")
        elif speaker != before[1] or text.startswith("#"):  # nobody speaks for another
            told.append(f"   {speaker}{text}")
        else:
            told.append(f"   {text}")
        before = line.n, speaker
    return "\n".join(told)


def size(digest: Digest) -> int:
    """Tokens of its text, in o200k."""
    return tokens(render(digest))
