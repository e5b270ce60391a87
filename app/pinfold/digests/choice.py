"""Chooses the lines of a digest: the most information per token.

A line is worth the information of its words that no chosen line has yet, per token, weighted by
speaker and age. That is a weighted coverage, which is submodular: greedy choice, evaluated lazily,
is near the optimum (Lin and Bilmes 2011, "A Class of Submodular Functions for Document
Summarization").
"""

import heapq
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import filterfalse

from msgspec import Struct
from msgspec.structs import replace

from pinfold.digests.lines import SPEAKER, WEIGHT, DigestLine, Kind
from pinfold.digests.record import DigestRecord
from pinfold.digests.words import information, tokens

NUMBER = 3
"""Tokens of an item's number before its first line."""
PASTED = 4
"""Pasted text takes at most one part in this many of the budget."""
_PER_LINE = 8
"""Tokens added to the cost of each line: many short lines are harder to read."""
_ONCE: frozenset[Kind] = frozenset({"commit", "edit", "failed"})
_SLOW = [256 - 102 * age // 256 for age in range(257)]
_FAST = [int(256 * 0.25 ** (age / 256)) for age in range(257)]
"""Weight by age, in 1/256 of the session: the user's words fade slowly."""


class DigestLines(Struct, frozen=True):
    """The chosen lines in order, and those left out."""

    lines: tuple[DigestLine, ...]
    left: tuple[DigestLine, ...]
    full: frozenset[int] = frozenset()
    """Positions of the lines shown in their full form."""
    repeated: tuple[int, ...] = ()
    """How often each line was said or done."""
    numbered: bool = True
    """Whether the text gives item numbers."""


def choose(record: DigestRecord, budget: int) -> DigestLines:
    """The most informative lines of a record, in about `budget` tokens."""
    return ChosenLines(record, record.lines(), budget).digest()


def take_best(lines: Sequence[DigestLine], record: DigestRecord, budget: int) -> list[DigestLine]:
    """The most informative of these lines in about `budget` tokens, in their order."""
    return list(ChosenLines(record, lines, budget, ranked=True).digest().lines)


class ChosenLines:
    """A choice of lines for a budget. Their size is estimated: count the text, then take `more` of
    them or `less`."""

    def __init__(
        self,
        record: DigestRecord,
        lines: Sequence[DigestLine],
        budget: int,
        kept: Collection[str] = (),
        *,
        ranked: bool = False,
        freely: bool = False,
        numbered: bool = True,
    ) -> None:
        """Lines whose keys are in `kept` come first, and the user's if they take at most half; with
        `ranked`, all compete. `freely`: pasted text may fill the budget, and lines may repeat."""
        self._lines = lines if ranked else _with_room_for_user(lines, budget, NUMBER * numbered)
        self._budget = budget
        self._freely = freely
        self._number = NUMBER if numbered else 0
        self._times = [record.times(line.key) for line in lines]
        self._scale = [
            _scale(line, times, record.places)
            for line, times in zip(lines, self._times, strict=True)
        ]
        self._by_user: set[str] = set()
        self._by_all: set[str] = set()
        self._numbered: Counter[int] = Counter()
        """How many lines of each item are chosen."""
        self._pasted = 0
        self._left = budget
        self._chosen: dict[int, None] = {}
        """Positions, in the order of choice."""
        self._full: list[int] = []
        for at in () if ranked else self._first(kept):
            if self._cost(at) <= self._left:
                self._take(at)
        self._fill()

    def digest(self) -> DigestLines:
        lines, chosen = self._lines, sorted(self._chosen)
        full = set(self._full)
        return DigestLines(
            tuple(lines[at] for at in chosen),
            tuple(line for at, line in enumerate(lines) if at not in self._chosen),
            frozenset(place for place, at in enumerate(chosen) if at in full),
            tuple(self._times[at] for at in chosen),
            self._number > 0,
        )

    @property
    def room(self) -> int:
        """Tokens of the budget that are left."""
        return self._left

    def more(self, tokens: int) -> bool:
        """Choose lines for `tokens` more; false if there were none."""
        before = len(self._chosen), len(self._full)
        self._left = tokens
        self._budget += tokens
        self._fill()
        return before != (len(self._chosen), len(self._full))

    def less(self, tokens: int) -> bool:
        """Drop `tokens` of what was chosen last; false if there was nothing."""
        before = tokens
        while tokens > 0 and self._full:
            tokens -= self._lines[self._full.pop()].more
        while tokens > 0 and self._chosen:
            at, _ = self._chosen.popitem()
            line = self._lines[at]
            self._numbered[line.n] -= 1
            self._pasted -= line.cost if line.kind == "pasted" else 0
            tokens -= self._cost(at)
        return tokens < before

    def _first(self, kept: Collection[str]) -> list[int]:
        lines = self._lines
        users = {at for at, line in enumerate(lines) if line.kind == "user"}
        if sum(lines[at].cost + self._number for at in users) > self._budget // 2:
            users = set()
        return [at for at, line in enumerate(lines) if at in users or line.key in kept]

    def _fill(self) -> None:
        rest = [at for at in range(len(self._lines)) if at not in self._chosen]
        last = [at for at in rest if self._lines[at].kind == "found"]
        rest = [at for at in rest if self._lines[at].kind != "found"]
        if not self._take_all(rest):
            self._greedy(rest)
        self._greedy(last)
        self._widen()

    def _greedy(self, places: Sequence[int]) -> None:
        # At first as if no other line were chosen; looked at again before it is taken.
        heap = [(-self._worth(at, self._lines[at].told), at) for at in places]
        heapq.heapify(heap)
        lines = self._lines
        while heap and self._left > self._number:
            before, at = heap[0]
            line = lines[at]
            cost = self._cost(at)
            over = line.kind == "pasted" and (self._pasted + cost) * PASTED > self._budget
            if cost > self._left or (over and not self._freely):
                heapq.heappop(heap)
                continue
            now = -self._gain(at)
            if now > before:  # other lines have some of its words by now
                heapq.heapreplace(heap, (now, at))
                if heap[0][1] != at:
                    continue
            heapq.heappop(heap)
            if now < 0 or line.kind == "user" or self._freely:
                self._take(at)

    def _take_all(self, places: Sequence[int]) -> bool:
        lines = self._lines
        pasted = sum(lines[at].cost for at in places if lines[at].kind == "pasted")
        new = {lines[at].n for at in places} - self._numbered.keys()
        cost = sum(lines[at].cost for at in places) + self._number * len(new)
        if cost > self._left or (pasted * PASTED > self._budget and not self._freely):
            return False
        for at in places:
            self._take(at)
        return True

    def _cost(self, at: int) -> int:
        line = self._lines[at]
        return line.cost + (0 if self._numbered[line.n] else self._number)

    def _take(self, at: int) -> None:
        line = self._lines[at]
        cost = self._cost(at)
        self._left -= cost
        self._chosen[at] = None
        self._numbered[line.n] += 1
        self._pasted += cost if line.kind == "pasted" else 0
        self._by_all.update(line.words)
        if line.kind == "user":
            self._by_user.update(line.words)

    def _gain(self, at: int) -> int:
        line = self._lines[at]
        # Words of the user count as new even if the agent repeats them.
        have = self._by_user if line.kind == "user" else self._by_all
        told = sum(map(information, filterfalse(have.__contains__, line.words)))
        return self._worth(at, told)

    def _worth(self, at: int, told: int) -> int:
        return told * self._scale[at] // (self._lines[at].cost + _PER_LINE)

    def _widen(self) -> None:
        """Show lines in full where that fits too, in the order of choice."""
        for at in self._chosen:
            more = self._lines[at].more
            if 0 < more <= self._left and at not in self._full:
                self._left -= more
                self._full.append(at)


def _with_room_for_user(
    lines: Sequence[DigestLine], budget: int, number: int
) -> Sequence[DigestLine]:
    """The lines, the user's without what they answer where they take over half with it."""
    cost = sum(line.cost + number for line in lines if line.kind == "user")
    if cost <= budget // 2:
        return lines
    return [
        replace(line, lead="", cost=tokens(f"{line.text}\n") + 1)
        if line.kind == "user" and line.lead
        else line
        for line in lines
    ]


def _scale(line: DigestLine, times: int, places: int) -> int:
    """Weight times age, in 1/(20 · 256 · 256)."""
    age = min(256, 256 * (places - line.place) // max(1, places))
    fresh = (_SLOW if line.kind == "user" else _FAST)[age]
    weight = WEIGHT[line.kind] * line.percent * 256 // 100
    if line.kind == "run":
        weight += weight * (times.bit_length() - 1)  # how things are done here
    elif line.kind not in _ONCE:
        weight //= times  # boilerplate
    return weight * fresh


def text_of(digest: DigestLines, at: int) -> str:
    """Line `at` without number and speaker."""
    line = digest.lines[at]
    text = line.lead + (line.full if at in digest.full else line.text)
    if line.kind == "run" and digest.repeated[at] > 1:
        text += f" ({digest.repeated[at]} times)"
    return text


def render(digest: DigestLines) -> str:
    """The digest as text; lines of one item and speaker share its number and name."""
    told: list[str] = []
    before: tuple[int, str] = (-1 if digest.numbered else 0, "")
    for at, line in enumerate(digest.lines):
        speaker = SPEAKER.get(line.kind, "")
        text = text_of(digest, at)
        item = line.n if digest.numbered else 0
        if item != before[0]:
            told.append(f"#{item} {speaker}{text}")
        elif speaker and speaker == before[1] and not text.startswith("#"):
            told.append(f"   {text}")
        elif digest.numbered:  # a line can't pose as another item
            told.append(f"   {speaker}{text}")
        else:
            told.append(f"{speaker or '- '}{text}")
        before = item, speaker
    return "\n".join(told)


def size(digest: DigestLines) -> int:
    """o200k tokens of its text."""
    return tokens(render(digest))
