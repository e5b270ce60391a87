"""Conversations, written as they were said: `dialogues/*.txt`.

If you work on a strategy, look only at every other dialogue by name, the first included, and judge
by the rest: a dialogue that a rule was written for measures nothing.

    language: en
    area: coding

    user: hi, <goal: make {name} faster>. oh, and <rule: stay off {host}>
    agent: I look around. <next: Then I profile {name}.>
    tool cat settings => <fact pool: pool = {port}>
    write src/{name}.py
    record decision => <decision: We keep {name}>

An indented line continues the one before. `===` separates stretches, an empty line exchanges;
filler is added only between exchanges. Marks are `goal`, `rule`, `decision`, `question`,
`answered`, `fact` and `next`; one with a key that was used before replaces what that said.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec
from msgspec import Struct

_LINE = re.compile(r"(user|agent|tool|write|record)(?: (.*?))?(?:: | => |$)(.*)", re.DOTALL)
_NEXT_LINE = re.compile(r"\n(?!  )")
_FOLDER = files(__package__)

Area = Literal["coding", "debugging", "review", "operations", "writing"]
By = Literal["user", "agent", "tool", "write", "record"]


class DialogueLine(Struct, frozen=True):
    by: By
    about: str
    """A tool's command, the path of a written file, or the kind of a record."""
    text: str


Exchange = tuple[DialogueLine, ...]
"""Lines without filler between them."""


class Dialogue(Struct, frozen=True):
    name: str
    language: str
    area: Area
    stretches: tuple[tuple[Exchange, ...], ...]

    @property
    def title(self) -> str:
        return f"{self.name} ({self.language}, {self.area})"


class Chatter(Struct, frozen=True, forbid_unknown_fields=True):
    """The texts that filler is made of, in one language."""

    last: tuple[str, ...]
    """The requests that may come last before a compaction."""
    asks: tuple[str, ...]
    replies: tuple[str, ...]
    prose: tuple[str, ...]
    """Sentences with the slots `word`, `n` and `m`."""
    words: tuple[str, ...]


@cache
def dialogues() -> tuple[Dialogue, ...]:
    """All dialogues, sorted by name."""
    named = sorted((file.name, file) for file in (_FOLDER / "dialogues").iterdir())
    return tuple(parsed(name.removesuffix(".txt"), file.read_text("utf-8")) for name, file in named)


@cache
def chatter(language: str) -> Chatter:
    file = _FOLDER / "chatter" / f"{language}.toml"
    return msgspec.toml.decode(file.read_text("utf-8"), type=Chatter)


def parsed(name: str, text: str) -> Dialogue:
    """Raises `ValueError`."""
    head, _, body = text.partition("\n\n")
    about = dict(line.split(": ") for line in head.splitlines())
    stretches = [tuple(_exchanges(stretch)) for stretch in body.split("\n===\n")]
    return msgspec.convert({"name": name, **about, "stretches": stretches}, Dialogue)


def _exchanges(text: str) -> Iterator[list[dict[str, str]]]:
    for block in text.strip("\n").split("\n\n"):
        yield [_line(line.replace("\n  ", "\n")) for line in _NEXT_LINE.split(block)]


def _line(text: str) -> dict[str, str]:
    found = _LINE.fullmatch(text)
    if found is None:
        raise ValueError(text)
    by, about, said = found.groups("")
    return {"by": by, "about": about, "text": said}
