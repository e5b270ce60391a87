"""Statements of memory: a text, the items that it cites, and a quote that proves it.

A record has one statement per line:

    - rule: Run the tests with `make test`. [0198...c1#12, 0198...c1#14] "make test, please"
    - fact: The limit is 40. [0198...c1#31] "LIMIT = 40" in "app/limits.py"

The quote is JSON; `in` names the file that it is from, if any. Other lines (headings, prose) are no
statements.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Literal, get_args

from msgspec import Struct

from pinfold.sanitize import one_line

StatementKind = Literal["rule", "decision", "fact", "command", "file", "failure", "said"]
KINDS: tuple[StatementKind, ...] = get_args(StatementKind)
"""`rule`: what the user wants, in the user's own words. `command`: one that worked. `failure`: what
went wrong, and what helped. `said`: by the user, but not as a rule."""

_ID = r"[0-9A-Za-z][0-9A-Za-z._-]{0,127}"
_CITED = re.compile(rf"({_ID})#(\d{{1,9}})")
_SHORTEST_ID = 8
_STRING = r'"(?:[^"\\]|\\.)*"'
_BRACKETS = re.compile(r"\[[^\[\]\n]*\]")
_LINE = re.compile(
    rf"\s*[-*] (?P<kind>{'|'.join(KINDS)}): (?P<text>.+?)"
    rf" \[(?P<cites>{_ID}#\d{{1,9}}(?:, ?{_ID}#\d{{1,9}})*)\]"
    rf"(?: (?P<quote>{_STRING})(?: in (?P<file>{_STRING}))?)?\s*"
)


class Citation(Struct, frozen=True, order=True):
    """An item of a session, written `session#item`."""

    session: str
    """The session's id, or a unique beginning of it."""
    item: int

    def __str__(self) -> str:
        return f"{self.session}#{self.item}"


class MemoryStatement(Struct, frozen=True):
    """One line of memory."""

    kind: StatementKind
    text: str
    cites: tuple[Citation, ...]
    """Not empty after the check."""
    quote: str = ""
    """Words from a cited item, or from `file`."""
    file: str = ""
    """The file that the quote is from, relative to the session's folder, or empty. The statement is
    stale once the file no longer contains the quote."""

    def __str__(self) -> str:
        line = f"- {self.kind}: {one_line(self.text)} [{', '.join(map(str, self.cites))}]"
        if self.quote:
            line += f" {_string(self.quote)}"
            if self.file:
                line += f" in {_string(self.file)}"
        return line


def parse(line: str) -> MemoryStatement | None:
    """The statement on a line; None if there is none."""
    found = _LINE.fullmatch(line)
    if not found:
        return None
    try:
        quote, file = (json.loads(found[name] or '""') for name in ("quote", "file"))
    except ValueError:
        return None
    kind = next(kind for kind in KINDS if kind == found["kind"])
    return MemoryStatement(kind, found["text"].strip(), tuple(cited(found["cites"])), quote, file)


def statements(text: str) -> list[MemoryStatement]:
    """All statements of a text, in order."""
    return [found for line in text.splitlines() if (found := parse(line))]


def record(every: Iterable[MemoryStatement]) -> str:
    """The text of a record."""
    return "".join(f"{statement}\n" for statement in every)


def cited(text: str) -> Iterator[Citation]:
    """Each `session#item` in a text."""
    return (Citation(found[1], int(found[2])) for found in _CITED.finditer(text))


def without_cites(text: str) -> str:
    """A text without its bracketed citations."""
    return _BRACKETS.sub(lambda found: "" if re.search(r"#\d", found[0]) else found[0], text)


def matching(session: str, known: Iterable[str]) -> list[str]:
    """The ids that begin with `session`, which needs at least 8 characters."""
    return [whole for whole in known if len(session) >= _SHORTEST_ID and whole.startswith(session)]


def _string(text: str) -> str:
    return json.dumps(one_line(text), ensure_ascii=False)
