"""What is left open: questions without an answer, and the next step that was named.

Only what says so itself is taken: a question that is called open, the one that the agent ends
with, a sentence that names the next step. What answers a question speaks of the same things.
"""

import math
import re
from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from pinfold.checkpoint.commitments_agreed import consent
from pinfold.checkpoint.commitments_cues import Cues, languages, plain, telling
from pinfold.checkpoint.commitments_prose import LEAD_IN, MAX_CHARS, sentences
from pinfold.checkpoint.text import clip

By = Literal["user", "agent"]

MAX_QUESTIONS = 5
_MAX_KEPT = 20
_MAX_STEPS = 3
"""Sentences that `Remaining:` and the like announce, at most."""
_PLEASE = re.compile(r"\b(?:please|bitte|por favor|veuillez)\b")
_NAME = re.compile(r"(?<=\w\W)[A-Z]\w*[\w-]*|\b\w*\d[\w-]*")
_STEM = 5
"""Characters by which a word is known again."""
_MIN_SHARED = 0.5
"""Of a question's words that an answer holds."""
_MIN_WORDS = 2
_SHORT = 160
"""Characters of a message that is taken as the answer to what was asked right before it."""


class OpenEnd(Struct, frozen=True):
    """A question or a next step, verbatim."""

    kind: Literal["question", "next"]
    by: By
    text: str
    item: int

    @property
    def line(self) -> str:
        """`- question #12: Who signs it?`"""
        by = "" if self.by == "user" else " by the agent"
        return f"- {self.kind}{by} #{self.item}: {self.text}"


class _Asked(Struct, frozen=True):
    end: OpenEnd
    words: frozenset[str]
    names: frozenset[str]
    """Those of `words` that name something."""

    def is_answered(self, told: Iterable[frozenset[str]]) -> bool:
        least = max(_MIN_WORDS, math.ceil(_MIN_SHARED * len(self.words)))
        return any(
            len(self.words & each) >= least and (not self.names or self.names & each)
            for each in told
        )


class OpenEnds:
    """Mutated by the messages, in their order."""

    def __init__(self) -> None:
        self._questions: list[_Asked] = []
        self._asked: _Asked | None = None
        """What the agent's last message ends with."""
        self._next: OpenEnd | None = None
        self._said: OpenEnd | None = None
        """Of the turn that runs: its last message says what counts."""
        self._named: set[int] = set()
        """The messages that ever named a next step."""

    def read(self, text: str, item: int) -> None:
        """Take a message of the user's."""
        every = [each.text for each in sentences(text)]
        if self._asked and len(text) > _SHORT and not consent(text):
            self._questions.append(self._asked)
        self._asked = None
        said = self._remember(_next(every, "user", item))
        self._next = said or self._said or self._next
        self._said = None
        self._take(every, "user", item)

    def hear(self, text: str, item: int) -> None:
        """Take a message of the agent's."""
        every = [each.text for each in sentences(text)]
        if not every:
            return
        self._said = self._remember(_next(every, "agent", item))
        self._take(every, "agent", item)
        asked = _question(every[-1], "agent", item)
        self._asked = asked if asked not in self._questions else None

    def plan(self) -> None:
        """The agent recorded a plan: what was said to come next is in it."""
        self._next = self._said = None

    def retract(self, after: int) -> None:
        """Forget those of the items after #`after`, which a rewind took back."""
        self._questions = [each for each in self._questions if each.end.item <= after]
        self._asked = self._said = None
        self._named = {each for each in self._named if each <= after}
        if self._next and self._next.item > after:
            self._next = None

    def standing(self) -> tuple[OpenEnd, ...]:
        """The newest questions, oldest first, then the next step."""
        asked = [*self._questions, *([self._asked] if self._asked else [])]
        step = self._said or self._next
        return (*(each.end for each in asked[-MAX_QUESTIONS:]), *([step] if step else []))

    def outdated(self) -> frozenset[int]:
        """The messages that named a next step which is no longer the next."""
        step = self._said or self._next
        return frozenset(self._named - {step.item} if step else self._named)

    def _remember(self, step: OpenEnd | None) -> OpenEnd | None:
        if step:
            self._named.add(step.item)
        return step

    def _take(self, every: list[str], by: By, item: int) -> None:
        told = [_words(each) for each in every if not (_asks(each) or _is_open(each))]
        asked = list(_left_open(every, by, item))
        again = {each.words for each in asked}
        self._questions = [
            each
            for each in self._questions
            if each.words not in again and not each.is_answered(told)
        ]
        self._questions += asked
        del self._questions[:-_MAX_KEPT]


def _left_open(every: list[str], by: By, item: int) -> Iterator[_Asked]:
    for before, each in zip(["", *every], every, strict=False):
        if (_is_open(each) or _is_open(before)) and (found := _question(each, by, item)):
            yield found


def _question(text: str, by: By, item: int) -> _Asked | None:
    found = LEAD_IN.match(text)
    text = found[2] if found and _is_open(found[1]) else text
    words = _words(text)
    if not _asks(text) or len(words) < _MIN_WORDS:
        return None
    names = _words(" ".join(_NAME.findall(text)))
    return _Asked(OpenEnd("question", by, clip(text, MAX_CHARS), item), words, names & words)


def _next(every: list[str], by: By, item: int) -> OpenEnd | None:
    for at in reversed(range(len(every))):
        said = plain(every[at]) + (":" if every[at].endswith(":") else "")
        if _asks(every[at]) or (by == "agent" and _PLEASE.search(said)):
            continue
        if any(_is_next(cues, said, by) for cues in languages()):
            more = every[at + 1 : at + 1 + _MAX_STEPS] if said.endswith(":") else []
            return OpenEnd("next", by, clip(" ".join([every[at], *more]), MAX_CHARS), item)
    return None


def _is_next(cues: Cues, said: str, by: By) -> bool:
    return bool(cues.next.search(said) or (by == "agent" and cues.ahead.search(said)))


def _asks(text: str) -> bool:
    return text.rstrip("\"')]*_ ").endswith("?")


def _is_open(text: str) -> bool:
    said = plain(text)
    return any(cues.open.search(said) for cues in languages())


def _words(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in telling(plain(text)))
