"""Commitments: what the user laid down in their own messages, kept in their own words.

Only messages of kind `user` are read. What they quote, paste or ask is no commitment.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from pinfold.checkpoint.commitments_cues import Cues, Kind, languages
from pinfold.checkpoint.commitments_prose import Sentence, sentences
from pinfold.checkpoint.policy import normal
from pinfold.rollout.events import CoreChanged

MAX_KEPT = 200
_MIN_ANSWER_CHARS = 4
"""Of an answer that says more than yes or no."""

_ASKED = re.compile(r"\?[\"')\]*_\s]*$")
_THEN_ASKED = re.compile(
    r"(?:,? (?:(?:and|but|so) )?(?:can|could|would|will) (?:you|we|i) [^,]*"
    r"|, (?:ok(?:ay)?|any)\b[^,]*)\?\W*$",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|„[^“\n]*“|«[^»\n]*»|`[^`\n]*`")
_NUMBER = re.compile(r"\b\d[\w.:]*\b")
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_MIN_COMMON = 0.75
"""Of the telling words of two sentences, from which on they are about the same."""


class Commitment(Struct, frozen=True):
    """One sentence or bullet of the user's."""

    kind: Kind
    text: str
    """Verbatim."""
    item: int
    """The user's message that holds it; 0 where they wrote it into the core by hand."""

    @property
    def line(self) -> str:
        """`- rule #12: Run the tests first.`"""
        return f"- {self.kind}{f' #{self.item}' if self.item else ''}: {self.text}"


class Commitments:
    """Those that stand, oldest first: a later one takes the place of what it supersedes."""

    def __init__(self) -> None:
        self._standing: list[tuple[Commitment, _About]] = []

    def read(self, text: str, item: int) -> None:
        """Take what a message of the user lays down."""
        for found in commitments(text, item):
            about = _about(found)
            self._standing = [each for each in self._standing if not about.supersedes(each[1])]
            self._standing.append((found, about))
        del self._standing[:-MAX_KEPT]

    def change(self, change: CoreChanged) -> None:
        """Take what the user changed by hand."""
        added = {stated.text: stated for stated in change.add}
        gone = {*change.remove, *added}
        self._standing = [each for each in self._standing if each[0].text not in gone]
        for text, stated in added.items():
            kind: Kind = next((each.kind for each in commitments(text)), "rule")
            found = Commitment(kind, text, stated.item)
            self._standing.append((found, _about(found)))

    def retract(self, after: int) -> None:
        """Forget those of the items after #`after`, which a rewind took back."""
        self._standing = [each for each in self._standing if each[0].item <= after]

    def standing(self) -> tuple[Commitment, ...]:
        return tuple(commitment for commitment, _ in self._standing)


def commitments(text: str, item: int = 0) -> Iterator[Commitment]:
    """What one message of the user lays down, in its order."""
    for sentence in sentences(text):
        if kind := _kind(sentence):
            yield Commitment(kind, sentence.text, item)


def _kind(sentence: Sentence) -> Kind | None:
    stated = _THEN_ASKED.sub("", sentence.text)  # "let's keep it in a table, can you show me one?"
    plain = _plain(_QUOTED.sub(" x ", stated or sentence.text))
    every = _spoken(plain)
    asked = bool(_ASKED.search(stated or sentence.text))
    if asked or any(cues.asks.search(plain) for cues in every):
        return "rule" if any(cues.even_asked.search(plain) for cues in every) else None
    if any(cues.ignore.search(plain) for cues in every):
        return None
    for cues in every:
        for kind, pattern in cues.kinds:
            if pattern.search(plain):
                return kind
    if sentence.answer and len(plain) >= _MIN_ANSWER_CHARS:
        return "decision"
    head = _plain(sentence.head)
    return next((kind for cues in every for kind, over in cues.heads if over.search(head)), None)


def _spoken(plain: str) -> list[Cues]:
    """The languages that a sentence may be in, as its small words tell."""
    words = set(_WORD.findall(plain))
    known = [(len(words & cues.empty), cues) for cues in languages()]
    most = max(shared for shared, _ in known)
    return [cues for shared, cues in known if 2 * shared >= most]


def _plain(text: str) -> str:
    """As the cues expect it."""
    return " ".join(normal(text).split()).strip(" .!:;,()")


class _About(Struct, frozen=True):
    """What a commitment is about, as far as words tell."""

    said: str
    topics: frozenset[str]
    """Things of which only one holds at a time: a port, the language of replies."""
    words: frozenset[str]
    """The telling ones, without values and those that name the topic."""
    valued: bool
    barred: bool
    """Something may not be done, and what it names is no value that changes."""
    numbers: frozenset[str]

    def supersedes(self, earlier: "_About") -> bool:
        if self.said == earlier.said:
            return True
        if (self.barred or earlier.barred) and self.numbers != earlier.numbers:
            return False
        if self.topics & earlier.topics:
            free = not (self.valued or earlier.valued)
            return free or self.words <= earlier.words or earlier.words <= self.words
        union = self.words | earlier.words
        return len(union) > 0 and len(self.words & earlier.words) >= _MIN_COMMON * len(union)


def _about(commitment: Commitment) -> _About:
    plain = _plain(commitment.text)
    every = languages()
    topics = {name for cues in every for name, topic in cues.topics if topic.search(plain)}
    valued = {name for cues in every for name, topic in cues.values if topic.search(plain)}
    naming = {word for cues in every for word in _named(cues, plain)}
    words = {word for word in _WORD.findall(plain) if not any(word in c.empty for c in every)}
    return _About(
        said=plain,
        topics=frozenset(topics | valued),
        words=frozenset(words - naming),
        valued=bool(valued),
        barred=any(cues.bars.search(plain) for cues in every),
        numbers=frozenset(_NUMBER.findall(plain)),
    )


def _named(cues: Cues, plain: str) -> Iterator[str]:
    for _, topic in cues.values:
        for match in topic.finditer(plain):
            yield from _WORD.findall(match[0])
