"""Probes without a model: how much of the truth a window holds, read as a request carries it.

A statement is *held* by the share of its values that one passage of the window has. Values count
half if the passage lacks most of the statement's other words, or of its label. A passage is the
part of a line within `REACH` of a value. White space and letter case do not matter. A value that an
older one follows counts 0, since it misleads; a next step that an older one follows, half. A file
is known if its name is there and, anywhere, each of its folders.
"""

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from statistics import fmean

from pinfold.evaluation.scores import Probe
from pinfold.evaluation.truth import ChangingFact, TrueStatement, Truth
from pinfold.rollout.arguments import parsed, strings
from pinfold.rollout.items import Item

BARE = 0.5
"""The factor for values without what they are about."""
REACH = 200
"""Characters on each side of a value."""
UNSURE = 0.5
"""The factor for a next step that an older one follows."""


class WindowText:
    """A window as text."""

    def __init__(self, items: Iterable[Item]) -> None:
        lines = (_plain(line) for item in items for line in _text(item).splitlines())
        self._text = "\n".join(filter(None, lines))

    def scores(self, truth: Truth) -> dict[Probe, float]:
        """Each probe in [0, 1]; 1 if there is nothing to ask."""
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
        """Whether an older value is there and the latest one does not follow it."""
        latest = max(map(self._last_place, fact.latest.values))
        return any(
            self._last_place(value) > latest for older in fact.older for value in older.values
        )

    def _knows(self, path: str) -> bool:
        return all(self._last_place(part) >= 0 for part in path.split("/"))

    def _last_place(self, value: str) -> int:
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
    """The last place of a value by itself, not inside another; -1 if there is none."""
    return next(_places(value, text), -1)


def _places(value: str, text: str) -> Iterator[int]:
    """All places of a value by itself, from the end."""
    at = text.rfind(value)
    while at >= 0:
        around = text[max(at - 1, 0) : at] + text[at + len(value) : at + len(value) + 1]
        if not any(letter.isalnum() or letter in "_-" for letter in around):
            yield at
        at = text.rfind(value, 0, at + len(value) - 1)


def _text(item: Item) -> str:
    """The text as a model reads it: a call's arguments without JSON syntax."""
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
