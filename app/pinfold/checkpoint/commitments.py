"""Commitments: what the user laid down in their own messages, kept in their own words.

Only messages of kind `user` are read. What they quote, paste or ask is no commitment.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from pinfold.checkpoint.commitments_cues import Cues, Kind, languages
from pinfold.checkpoint.policy import normal
from pinfold.checkpoint.text import clip, one_line

MAX_READ_CHARS = 12_000
"""Of a message; a longer one is a paste, of which the head counts."""
MAX_CHARS = 400
"""Of a commitment; what is longer is a text, no sentence."""
MAX_KEPT = 200

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_BULLET = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)])\s+(?:\[[ x]\]\s+)?")
_PASTED = re.compile(
    r"^(?:>|\||\s{4,}|\t|[+-]{3} |@@|#{1,6} |\$ |at \S+\()|\b\d\d:\d\d:\d\d\b|"
    r"\b(?:error|warn(?:ing)?|info|debug|fatal|traceback|exception|hint)\b\]?:|[{};]\s*$|━|│",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[^\W\d_]{3}[.!?])\s+|(?<=[.!?])[\"')\]]*\s+(?=[\"'(¿¡]?[^\W_a-z])")
_ASKED = re.compile(r"\?[\"')\]*_\s]*$")
_THEN_ASKED = re.compile(
    r",? (?:(?:and|but|so) )?(?:can|could|would|will) (?:you|we|i) [^,]*\?\W*$", re.IGNORECASE
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
    """The user's message that holds it."""


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

    def retract(self, after: int) -> None:
        """Forget those of the items after #`after`, which a rewind took back."""
        self._standing = [each for each in self._standing if each[0].item <= after]

    def standing(self) -> tuple[Commitment, ...]:
        return tuple(commitment for commitment, _ in self._standing)


def commitments(text: str, item: int = 0) -> Iterator[Commitment]:
    """What one message of the user lays down, in its order."""
    for sentence in _sentences(text[:MAX_READ_CHARS]):
        kind = _kind(sentence)
        if kind:
            yield Commitment(kind, sentence, item)


def _sentences(text: str) -> Iterator[str]:
    """Sentences and bullets of the user's own prose, each on one line."""
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced:
            continue
        bullet = _BULLET.match(line)
        prose = line[bullet.end() :] if bullet else line
        if _PASTED.search(prose if bullet else line):
            continue
        for sentence in _SENTENCE.split(prose):
            said = one_line(sentence)
            if 1 < len(said) <= MAX_CHARS:
                yield said


def _kind(sentence: str) -> Kind | None:
    stated = _THEN_ASKED.sub("", sentence)  # "let's keep it in a table, can you show me one?"
    asked = bool(_ASKED.search(stated))
    plain = " ".join(normal(_QUOTED.sub(" x ", stated or sentence)).split())
    for cues in languages():
        if cues.ignore.search(plain):
            return None
    for cues in languages():
        if asked:
            if cues.even_asked.search(plain):
                return "rule"
            continue
        for kind, pattern in cues.kinds:
            if pattern.search(plain):
                return kind
    return None


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
    plain = " ".join(normal(commitment.text).split())
    every = languages()
    topics = {name for cues in every for name, topic in cues.topics if topic.search(plain)}
    valued = {name for cues in every for name, topic in cues.values if topic.search(plain)}
    naming = {word for cues in every for word in _named(cues, plain)}
    words = {word for word in _WORD.findall(plain) if not any(word in c.empty for c in every)}
    return _About(
        said=clip(plain, MAX_CHARS),
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
