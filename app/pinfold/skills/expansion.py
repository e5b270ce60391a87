"""Expands a command's text: inserts arguments, finds commands to run and files to read.

The text is looked through once, so nothing in an argument is looked at again.
"""

import re
import shlex
from collections.abc import Iterator, Sequence

from msgspec import Struct

_PARTS = re.compile(
    r"(?P<all>\$ARGUMENTS\b)"
    r"|\$(?P<one>[1-9])(?!\d)"
    r"|(?<!\S)!`(?P<command>[^`\n]+)`"
    r"|(?<![\w`@./-])@(?P<file>[\w$~./-][\w$~./:+-]*)"
)
_GIVEN = re.compile(r"\$ARGUMENTS\b|\$([1-9])(?!\d)")


class Plain(Struct, frozen=True):
    text: str


class Run(Struct, frozen=True):
    """A command whose output takes its place."""

    command: str
    text: str
    """The text left in place if it does not run."""


class Read(Struct, frozen=True):
    """A file whose text takes its place."""

    path: str
    text: str
    """The text left in place if it can't be read."""


Part = Plain | Run | Read


def parts(body: str, arguments: str) -> Iterator[Part]:
    """`body` with what the user typed for `$ARGUMENTS` and `$1` to `$9`, in pieces."""
    given = words(arguments)
    at = 0
    for match in _PARTS.finditer(body):
        yield Plain(body[at : match.start()])
        at = match.end()
        if (command := match["command"]) is not None:
            filled = _GIVEN.sub(lambda found: _quoted(found, given), command)
            yield Run(filled, f"!`{filled}`")
        elif (path := match["file"]) is not None:
            kept = path.rstrip(".:")
            at -= len(path) - len(kept)
            filled = _GIVEN.sub(lambda found: _put(found, given, arguments), kept)
            yield Read(filled, f"@{filled}")
        else:
            yield Plain(_put(match, given, arguments, name="one"))
    yield Plain(body[at:])


def words(arguments: str) -> list[str]:
    """The words of what the user typed, in which quotes hold several together."""
    try:
        return shlex.split(arguments)
    except ValueError:  # an apostrophe
        return arguments.split()


def _put(match: re.Match[str], given: Sequence[str], arguments: str, name: str | int = 1) -> str:
    number = match[name]
    if number is None:
        return arguments
    return given[int(number) - 1] if int(number) <= len(given) else ""


def _quoted(match: re.Match[str], given: Sequence[str]) -> str:
    """The arguments quoted for a shell: each word stays one word."""
    if match[1] is None:
        return shlex.join(given)
    return shlex.quote(given[int(match[1]) - 1]) if int(match[1]) <= len(given) else ""
