"""Commitments: what the user laid down in their own messages, kept in their own words.

What they quote, paste or ask is no commitment. Of the agent's words those alone count that a
message of the user's agrees to.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from pinfold.checkpoint.commitments_agreed import agreed
from pinfold.checkpoint.commitments_cues import Cues, Kind, languages, plain, telling
from pinfold.checkpoint.commitments_prose import LEAD_IN, Sentence, sentences
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
_PARTING = re.compile(r"[\W_]+")
"""In the key of a fact."""
_VALUED: frozenset[Kind] = frozenset({"value", "constraint", "state"})
"""Kinds that tell what something is."""
_MIN_TOLD = 2
"""Telling words of a sentence without its value, which name one thing."""
_MIN_COMMON = 0.75
"""Of the telling words of two sentences, from which on they are about the same."""


class Commitment(Struct, frozen=True):
    """One sentence or bullet of the user's."""

    kind: Kind
    text: str
    """Verbatim."""
    item: int
    """The user's message that holds it; 0 where they wrote it into the core by hand."""
    proposed: int = 0
    """The agent's message that holds `text`, where the user agreed to it."""
    consent: str = ""
    """The user's words then."""

    @property
    def line(self) -> str:
        """`- rule #12: Run the tests first.`; `- decision #12 (“Agreed.” to #11): I'd wait.`"""
        agreed = f" (“{self.consent}” to #{self.proposed})" if self.proposed else ""
        return f"- {self.kind}{f' #{self.item}' if self.item else ''}{agreed}: {self.text}"


class Commitments:
    """Those that stand, oldest first: a later one takes the place of what it supersedes."""

    def __init__(self) -> None:
        self._standing: list[tuple[Commitment, _About]] = []
        self._heard: tuple[str, int] = ("", 0)
        """The agent's last message, which the user may agree to."""

    def hear(self, text: str, item: int) -> None:
        """Take a message of the agent's."""
        if text.strip():
            self._heard = (text, item)

    def read(self, text: str, item: int) -> None:
        """Take what a message of the user lays down."""
        taken = list(self._agreed(text, item))
        said = {each.consent for each in taken}
        own = [each for each in commitments(text, item) if each.text not in said]
        for found in [*taken, *own]:
            about = _about(found)
            self._standing = [each for each in self._standing if not about.supersedes(each[1])]
            self._standing.append((found, about))
        del self._standing[:-MAX_KEPT]

    def recorded(self, key: str, value: str) -> None:
        """A fact on the user's word: what they said of the same before no longer holds."""
        named = f"{_PARTING.sub(' ', key)}: {value}"
        about = [_about(Commitment("value", text, 0)) for text in (value, named)]
        words = set(plain(value).split())
        self._standing = [
            (each, of)
            for each, of in self._standing
            if each.kind != "value"
            or words <= set(of.said.split())
            or not any(one.supersedes(of) for one in about)
        ]

    def _agreed(self, text: str, item: int) -> Iterator[Commitment]:
        heard, n = self._heard
        self._heard = ("", 0)
        said, every = agreed(heard, text) if heard else ("", ())
        for each in every:
            yield Commitment("decision", each, item, n, said)

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
        self._heard = ("", 0)

    def standing(self) -> tuple[Commitment, ...]:
        return tuple(commitment for commitment, _ in self._standing)


def commitments(text: str, item: int = 0) -> Iterator[Commitment]:
    """What one message of the user lays down, in its order."""
    for sentence in sentences(text):
        if kind := _kind(sentence):
            yield Commitment(kind, sentence.text, item)


def _kind(sentence: Sentence) -> Kind | None:
    # "let's keep it in a table, can you show me one?"
    stated = _THEN_ASKED.sub("", sentence.text) or sentence.text
    unquoted = _QUOTED.sub(" x ", stated)
    said = plain(unquoted)
    every = _spoken(said)
    asked = bool(_ASKED.search(stated))
    if asked or any(cues.asks.search(said) for cues in every):
        return "rule" if any(cues.even_asked.search(said) for cues in every) else None
    body = plain(_behind_news(unquoted))
    core = _conceded(body, every)
    for each in dict.fromkeys((core, body, said)):
        if any(cues.ignore.search(each) for cues in every):
            if each == core:
                return None
            continue
        for cues in every:
            for kind, pattern in cues.kinds:
                if pattern.search(each):
                    return kind
    if sentence.answer and len(said) >= _MIN_ANSWER_CHARS:
        return "decision"
    head = plain(sentence.head)
    return next((kind for cues in every for kind, over in cues.heads if over.search(head)), None)


def _conceded(said: str, every: list[Cues]) -> str:
    """Without what it holds in spite of: `..., whatever the linter says`."""
    for cues in every:
        said = cues.concedes.sub("", said)
    return said


def _behind_news(text: str) -> str:
    """What `Correction:` and the like announce; all of it where nothing does."""
    found = LEAD_IN.match(text)
    told = plain(found[1]) if found else ""
    return found[2] if found and any(cues.news.search(told) for cues in languages()) else text


def _spoken(said: str) -> list[Cues]:
    """The languages that a sentence may be in, as its small words tell."""
    words = set(_WORD.findall(said))
    known = [(len(words & cues.empty), cues) for cues in languages()]
    most = max(shared for shared, _ in known)
    return [cues for shared, cues in known if 2 * shared >= most]


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
    frame: str
    """What is said but for its last word: the value, where all else is the same."""
    subject: frozenset[str]
    """Of what a value is told, by its telling words."""
    renewed: bool
    """It says that this has changed."""

    def supersedes(self, earlier: "_About") -> bool:
        if self.said == earlier.said or (self.frame and self.frame == earlier.frame):
            return True
        if (self.barred or earlier.barred) and self.numbers != earlier.numbers:
            return False
        if self.renewed and self.subject and self.subject == earlier.subject:
            return not (self.barred or earlier.barred)
        if self.topics & earlier.topics:
            free = not (self.valued or earlier.valued)
            return free or self.words <= earlier.words or earlier.words <= self.words
        union = self.words | earlier.words
        return len(union) > 0 and len(self.words & earlier.words) >= _MIN_COMMON * len(union)


def _about(commitment: Commitment) -> _About:
    said = plain(_behind_news(commitment.text))
    every = languages()
    topics = {name for cues in every for name, topic in cues.topics if topic.search(said)}
    valued = {name for cues in every for name, topic in cues.values if topic.search(said)}
    naming = {word for cues in every for word in _named(cues, said)}
    words = telling(said)
    return _About(
        said=said,
        topics=frozenset(topics | valued),
        words=frozenset(words - naming),
        valued=bool(valued),
        barred=any(cues.bars.search(said) for cues in every),
        numbers=frozenset(_NUMBER.findall(said)),
        frame=_frame(said, commitment.kind),
        subject=_subject(said) if commitment.kind in _VALUED else frozenset(),
        renewed=any(cues.news.search(said) for cues in _spoken(said)),
    )


def _subject(said: str) -> frozenset[str]:
    """`deadline`, of `The deadline is now Friday.`"""
    for cues in _spoken(said):
        if found := cues.copula.search(said):
            before = said[: found.start()]
            return frozenset(word for word in telling(before) if not cues.news.search(word))
    return frozenset()


def _frame(said: str, kind: Kind) -> str:
    """`the contact for orders is`, of `The contact for orders is Ann.`"""
    for cues in _spoken(said):
        if found := cues.copula.search(said):
            value = [word for word in said[found.end() :].split() if word not in cues.empty]
            frame = " ".join([said[: found.end()], *value[:-1]])
            return f"{kind} {frame}" if len(telling(frame)) >= _MIN_TOLD else ""
    return ""


def _named(cues: Cues, said: str) -> Iterator[str]:
    for _, topic in cues.values:
        for match in topic.finditer(said):
            yield from _WORD.findall(match[0])
