"""Commands that only read, and what keeps a command from being one: see `readers.toml`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ARGUMENTS = ("paths", "pattern", "text", "one", "none", "lines", "format")
_GIVE_PATTERN = frozenset({"-e", "-f", "--regexp", "--file", "--files", "--type-list"})
"""Options with which the first argument is no pattern."""
_FIRST = {"lines": re.compile(r"\d+(,(\+?\d+|\$))?p"), "format": re.compile(r"\+.*")}
_MOST = {"none": 0, "one": 1, "format": 1}
"""Arguments that there may be."""


@dataclass(frozen=True, slots=True)
class ReadOnlyCommand:
    """A command that only reads, as long as its options are among these."""

    name: str
    """Its words, such as `git log`."""
    letters: frozenset[str]
    valued: frozenset[str]
    """Letters that take the rest of the word, or the next word."""
    long: frozenset[str]
    """Longer options, with their dashes."""
    number: bool
    """Whether `-20` is an option."""
    arguments: str
    """One of `ARGUMENTS`."""
    network: bool

    def allows(self, word: str) -> bool:
        """Whether a word is an argument or a listed option."""
        if not word.startswith("-") or word in ("-", "--"):
            return True
        if self.number and word[1:].isdecimal():
            return True
        return all(
            option in self.long or option[1:] in self.letters for option in _options(word, self)
        )

    def odd(self, words: Sequence[str]) -> str | None:
        """The first word after the name that is not known to be harmless."""
        if (odd := next((word for word in words if not self.allows(word)), None)) is not None:
            return odd
        plain = [word for word in words if not word.startswith("-") or word == "-"]
        if (first := _FIRST.get(self.arguments)) and plain and not first.fullmatch(plain[0]):
            return plain[0]
        most = _MOST.get(self.arguments, len(plain))
        return plain[most] if len(plain) > most else None

    def paths(self, words: Sequence[str]) -> list[str]:
        """The words after the name that may name a file."""
        options = [word for word in words if word.startswith("-")]
        plain = [word for word in words if not word.startswith("-")]
        match self.arguments:
            case "text":
                return []
            case "lines" | "format":
                return options + plain[1:]
            case "pattern":
                given = {option for word in options for option in _options(word, self)}
                return options + plain[given.isdisjoint(_GIVE_PATTERN) :]
            case _:
                return options + plain


def _options(word: str, known: ReadOnlyCommand) -> list[str]:
    """The options that are in one word, without their values."""
    if word.startswith("--") or word in known.long:
        return [word.partition("=")[0]]
    found = []
    for letter in word[1:]:
        found.append(f"-{letter}")
        if letter in known.valued:
            break
    return found


def reader(words: Sequence[str]) -> ReadOnlyCommand | None:
    """The entry with the most words that a command begins with."""
    table = _table()
    for count in (3, 2, 1):
        if len(words) >= count and (found := table.get(tuple(words[:count]))):
            return found
    return None


@cache
def _table() -> dict[tuple[str, ...], ReadOnlyCommand]:
    import tomllib

    data = tomllib.loads(Path(__file__).with_name("readers.toml").read_text(encoding="utf-8"))
    groups = {name: text.split() for name, text in data["groups"].items()}
    entries = [_entry(name, text.split(), groups) for name, text in data["readers"].items()]
    programs = data["versions"]["programs"].split()
    entries += [_entry(f"{program} --version", ["@none"], groups) for program in programs]
    return {tuple(entry.name.split()): entry for entry in entries}


def _entry(name: str, words: list[str], groups: dict[str, list[str]]) -> ReadOnlyCommand:
    letters: set[str] = set()
    valued: set[str] = set()
    long: set[str] = set()
    arguments, network, number = "paths", False, False
    waiting = list(words)
    while waiting:
        word = waiting.pop()
        mark = word[1:]
        if word.startswith("--"):
            long.add(word)
        elif word.startswith("+"):
            long.add(f"-{mark}")
        elif word.startswith("-"):
            number = number or "#" in mark
            letters.update(mark.replace("#", "").replace(":", ""))
            valued.update(re.findall(r"(.):", mark))
        elif mark == "network":
            network = True
        elif mark in ARGUMENTS:
            arguments = mark
        else:
            waiting += groups[mark]
    return ReadOnlyCommand(
        name,
        frozenset(letters),
        frozenset(valued),
        frozenset(long),
        number,
        arguments,
        network,
    )
