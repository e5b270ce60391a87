"""What can be completed at the cursor, and with what."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from pinfold.commands.registry import ACTIONS, BY_SLASH, USUAL


class Token(Struct, frozen=True):
    """The unfinished word before the cursor."""

    kind: Literal["command", "argument", "file"]
    start: int
    """Its first column, in the cursor's line; the query is behind it."""
    query: str
    command: str = ""
    """The command that an argument belongs to."""


class Candidate(Struct, frozen=True):
    """One line of the list."""

    text: str
    help: str = ""
    """What it is, at the right."""
    insert: str = ""
    """What takes the token's place."""


_COMMAND = re.compile(r"/([\w:.-]*)\Z")
_ARGUMENT = re.compile(r"/([\w-]+)[ ]+(\S*)\Z")
_FILE = re.compile(r"(?:^|(?<=[\s(\[\"'`]))@([^\s@]*)\Z")


def token_at(before: str, *, first_line: bool) -> Token | None:
    """The token that ends with `before`, the cursor's line up to the cursor."""
    if first_line and (match := _COMMAND.match(before)):
        return Token("command", 0, match[1])
    if first_line and (match := _ARGUMENT.match(before)) and match[1] in BY_SLASH:
        return Token("argument", match.start(2), match[2], match[1])
    if match := _FILE.search(before):
        return Token("file", match.start(), match[1])
    return None


def commands(
    query: str, used: Iterable[str] = (), own: Iterable[Candidate] = ()
) -> list[Candidate]:
    """Commands whose name begins with `query`, then those that hold it.

    The most used come first: `used` has a command's name for each use. `own` are beside pinfold's.
    """
    uses = Counter(BY_SLASH[name].id if name in BY_SLASH else name for name in used)
    found: list[tuple[tuple[bool, int, int, str], Candidate]] = []
    for action in ACTIONS:
        names = [name for name in action.slash if query in name]
        if names:
            name = min(names, key=lambda word: not word.startswith(query))
            shown = f"/{name} {action.usage}".rstrip()
            usual = USUAL.index(action.id) if action.id in USUAL else len(USUAL)
            rank = (not name.startswith(query), -uses[action.id], usual, name)
            found.append((rank, Candidate(shown, action.title, f"/{name} ")))
    for candidate in own:
        name = candidate.insert.strip(" /")
        if query in name:
            rank = (not name.startswith(query), -uses[name], len(USUAL), name)
            found.append((rank, candidate))
    return [candidate for _, candidate in sorted(found, key=lambda entry: entry[0])]


def is_short_for_one(query: str, own: Sequence[Candidate] = ()) -> bool:
    """Whether `query` is no command's name, but only one command's begins with it."""
    every = commands(query, own=own)
    fitting = [command.insert for command in every if command.insert.startswith(f"/{query}")]
    return query not in BY_SLASH and f"/{query} " not in fitting and len(fitting) == 1


def choices(query: str, values: Iterable[str]) -> list[Candidate]:
    """The values of an argument that hold `query`; none where it is one of them."""
    fitting = [value for value in values if query.lower() in value.lower()]
    return [] if query in fitting else [Candidate(value, insert=value) for value in fitting]


def mentions(query: str, names: Iterable[str]) -> list[Candidate]:
    """Names behind `@` that hold `query`; none while nothing is typed."""
    fitting = [name for name in names if query and query.lower() in name.lower()]
    return [Candidate(name[1:], insert=f"{name} ") for name in fitting]


def files(paths: Sequence[str]) -> list[Candidate]:
    return [Candidate(path, insert=f"@{path} ") for path in paths]
