"""Probes without a model: what a window holds of what is true, read as a request carries it.

A statement is *held* as far as a passage of the window has its values: all of them for 1.0, with at
least half of what it says of them, or of its label; values without that count half. A passage is
what is on one line within `REACH` of a value. White space and letter case do not matter. A
value that an older one is behind counts nothing, since it misleads whoever reads on; a next
step that an older one is behind, half. A file is known where its name stands, and somewhere
each of its folders.
"""

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from statistics import fmean

from pinfold.evaluation.scores import Probe
from pinfold.evaluation.truth import ChangingFact, TrueStatement, Truth
from pinfold.rollout.arguments import parsed, strings
from pinfold.rollout.items import Item

BARE = 0.5
"""Of a statement, for its values without what they are about."""
REACH = 200
"""Characters: so many words may be between."""
UNSURE = 0.5
"""Of the next step, where an older one is behind it."""


class WindowText:
    """A window as text."""

    def __init__(self, items: Iterable[Item]) -> None:
        lines = (_plain(line) for item in items for line in _text(item).splitlines())
        self._text = "\n".join(filter(None, lines))

    def scores(self, truth: Truth) -> dict[Probe, float]:
        """Each probe in [0, 1]; one that nothing is asked of gives 1."""
        next_ = [self.held(question) for question in truth.questions] + [self._step(truth)]
        changed = [fact for fact in truth.facts if fact.older]
        return {
            "goal": self.held(truth.goal),
            "constraints": _mean(map(self.held, truth.constraints)),
            "decisions": _mean(map(self.held, truth.decisions)),
            "facts": _mean(self._latest(fact) for fact in changed),
            "stale": _mean(float(not self.is_stale(fact)) for fact in changed),
            "next": _mean(next_),
            "files": _mean(float(self._knows(path)) for path in truth.files),
        }

    def held(self, statement: TrueStatement) -> float:
        """How far the window holds a statement."""
        values = [_plain(value) for value in statement.values]
        passages = {passage for value in values for passage in self._surroundings(value)}
        return max((_share(passage, values, statement.words) for passage in passages), default=0.0)

    def _latest(self, fact: ChangingFact) -> float:
        if self.is_stale(fact):
            return 0.0
        return max(self.held(fact.latest), self.held(fact.labelled))

    def _step(self, truth: Truth) -> float:
        share = self.held(truth.next)
        return UNSURE * share if self.is_stale(ChangingFact("", truth.next, truth.past)) else share

    def is_stale(self, fact: ChangingFact) -> bool:
        """Whether an older value stands without a newer mention of the latest one behind it."""
        latest = max(map(self._last_place, fact.latest.values))
        return any(
            self._last_place(value) > latest for older in fact.older for value in older.values
        )

    def _knows(self, path: str) -> bool:
        return all(self._last_place(part) >= 0 for part in path.split("/"))

    def _last_place(self, value: str) -> int:
        """Where a value stands last; -1 where it doesn't."""
        return _last_place(_plain(value), self._text)

    def _surroundings(self, value: str) -> Iterator[str]:
        for at in _places(value, self._text):
            before = self._text[max(0, at - REACH) : at].rpartition("\n")[2]
            yield before + self._text[at : at + len(value) + REACH].partition("\n")[0]


def _share(passage: str, values: Sequence[str], words: Collection[str]) -> float:
    found = sum(_last_place(value, passage) >= 0 for value in values) / len(values)
    labelled = sum(word in passage for word in words) * 2 >= len(words)
    return found if labelled else BARE * found


def _last_place(value: str, text: str) -> int:
    """Where a value stands last by itself, not inside of another; -1 where it doesn't."""
    return next(_places(value, text), -1)


def _places(value: str, text: str) -> Iterator[int]:
    """All of them, from the end."""
    at = text.rfind(value)
    while at >= 0:
        around = text[max(at - 1, 0) : at] + text[at + len(value) : at + len(value) + 1]
        if not any(letter.isalnum() or letter in "_-" for letter in around):
            yield at
        at = text.rfind(value, 0, at + len(value) - 1)


def _text(item: Item) -> str:
    """As a model reads it: a call's arguments without the marks of JSON."""
    if item.kind != "tool_call":
        return item.content
    given = parsed(item.content)
    if given is None:
        return item.content
    return f"{item.name} {' '.join(strings(given))}"


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _mean(parts: Iterable[float]) -> float:
    every = list(parts)
    return fmean(every) if every else 1.0
