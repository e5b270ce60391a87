"""What is true of a conversation: statements made of values that nobody can guess."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cached_property
from random import Random
from string import Formatter

_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_TELLING = re.compile(r"[^\W\d_]{4,}")


@dataclass(frozen=True)
class TrueStatement:
    """A sentence and its unguessable values."""

    text: str
    values: tuple[str, ...]

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words apart from the values, in lower case."""
        rest = self.text
        for value in self.values:
            rest = rest.replace(value, " ")
        return frozenset(_TELLING.findall(unicodedata.normalize("NFKC", rest).casefold()))


@dataclass(frozen=True)
class ChangingFact:
    """Something whose value changes."""

    label: str
    latest: TrueStatement
    older: tuple[TrueStatement, ...] = ()

    @cached_property
    def labelled(self) -> TrueStatement:
        """Its latest value with only its label."""
        return TrueStatement(f"{self.label} {' '.join(self.latest.values)}", self.latest.values)

    def changed(self, now: TrueStatement) -> "ChangingFact":
        return replace(self, latest=now, older=(*self.older, self.latest))


@dataclass(frozen=True)
class Truth:
    """What is true at one moment of a conversation."""

    goal: TrueStatement
    next: TrueStatement
    past: tuple[TrueStatement, ...] = ()
    """Earlier next steps."""
    constraints: tuple[TrueStatement, ...] = ()
    decisions: tuple[TrueStatement, ...] = ()
    facts: tuple[ChangingFact, ...] = ()
    questions: tuple[TrueStatement, ...] = ()
    """Open ones."""
    files: tuple[str, ...] = ()
    """Paths that the agent wrote or changed."""

    def statements(self) -> Iterator[TrueStatement]:
        """Everything a window should hold, except files."""
        yield self.goal
        yield from self.constraints
        yield from self.decisions
        yield from (fact.latest for fact in self.facts)
        yield self.next
        yield from self.questions


@dataclass
class Values:
    """Draws values, none of them twice."""

    rng: Random
    _drawn: set[str] = field(default_factory=set)

    def fill(self, text: str) -> TrueStatement:
        """A statement from a sentence with slots, such as `{port}`. Raises `KeyError`."""
        parts: list[str] = []
        values: list[str] = []
        for literal, slot, _, _ in Formatter().parse(text):
            parts.append(literal)
            if slot is not None:
                values.append(self.draw(slot))
                parts.append(values[-1])
        return TrueStatement("".join(parts), tuple(values))

    def draw(self, slot: str) -> str:
        """A value for a slot. Raises `KeyError` where there is no such slot."""
        make = _SLOTS[slot]
        while (value := make(self.rng)) in self._drawn:
            pass
        self._drawn.add(value)
        return value


def _name(rng: Random) -> str:
    return "".join(rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(4))


def _hash(rng: Random) -> str:
    return "f" + "".join(rng.choice("0123456789abcdef") for _ in range(9))


_SLOTS: dict[str, Callable[[Random], str]] = {
    "name": _name,
    "person": lambda rng: _name(rng).capitalize(),
    "host": lambda rng: f"{_name(rng)}.internal",
    "hash": _hash,
    "code": lambda rng: f"{rng.choice('KQVWXZ')}{rng.choice('HJKT')}-{rng.randrange(10**4, 10**5)}",
    "port": lambda rng: str(rng.randrange(20_000, 65_000)),
    "count": lambda rng: str(rng.randrange(100_000, 999_999)),
    "version": lambda rng: ".".join(str(rng.randrange(11, 99)) for _ in range(3)),
    "date": lambda rng: str(date(2031, 1, 1) + timedelta(days=rng.randrange(10_000))),
}
"""The slots of a sentence. No value looks like filler."""
