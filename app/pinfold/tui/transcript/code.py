"""Source code in colours, in groups of lines, so that a growing block is lexed but once."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.segment import Segment
from rich.style import Style

from pinfold.sanitize import clean
from pinfold.tui.transcript.lines import TranscriptLine, fold
from pinfold.tui.transcript.looks import Looks

if TYPE_CHECKING:
    from pygments.lexer import Lexer

GROUP = 40
"""Lines that are lexed together."""

_ROLES = {
    "Comment": "comment",
    "Keyword": "keyword",
    "Literal.String": "string",
    "Literal.Number": "literal",
    "Name.Function": "function",
    "Name.Class": "function",
    "Name.Decorator": "function",
    "Name.Tag": "keyword",
    "Name.Attribute": "function",
    "Name.Builtin": "function",
    "Generic.Heading": "keyword",
    "Generic.Inserted": "added_text",
    "Generic.Deleted": "removed_text",
}
"""Which look a kind of token has, by the longest name that fits."""

_OVER_LINES = ("Token.Literal.String", "Token.Comment.Multiline")
"""Tokens that a group must not end in."""


class _Group(NamedTuple):
    lines: list[list[tuple[str, str]]]
    """Pieces of each line: the look's name and the text."""
    cut: int
    """How many lines stand by themselves: the next one begins outside strings and comments."""


@lru_cache(maxsize=64)
def _lexer(language: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def warm() -> None:
    """Make the lexer of Python ready: its rules take longest to compile."""
    _group("pass", "python")


@lru_cache(maxsize=512)
def _role(token: Any) -> str:
    names = list(token)
    while names:
        if role := _ROLES.get(".".join(names)):
            return role
        names.pop()
    return "plain"


@lru_cache(maxsize=128)
def _group(code: str, language: str) -> _Group:
    lexer = _lexer(language)
    rows: list[list[tuple[str, str]]] = [[]]
    safe = 0
    for kind, text in lexer.get_tokens(code) if lexer else []:
        role = _role(kind)
        first, *rest = text.split("\n")
        if first:
            rows[-1].append((role, first))
        for piece in rest:
            if not str(kind).startswith(_OVER_LINES):
                safe = len(rows)
            rows.append([(role, piece)] if piece else [])
    return _Group(rows, safe)


def highlight(lines: Sequence[str], language: str, looks: Looks) -> list[list[Segment]]:
    """`lines` in the colours of `language`; plain where nobody knows it."""
    if not language or _lexer(language) is None:
        return [[Segment(line, looks.plain)] if line else [] for line in lines]
    out: list[list[tuple[str, str]]] = []
    while len(lines) - len(out) > GROUP:
        group = _group("\n".join(lines[len(out) : len(out) + GROUP]), language)
        out += group.lines[: group.cut or GROUP]
    out += _group("\n".join(lines[len(out) :]), language).lines
    styles: dict[str, Style] = {role: getattr(looks, role) for role in {"plain", *_ROLES.values()}}
    return [[Segment(text, styles[role]) for role, text in row] for row in out]


def code_block(text: str, language: str, width: int, looks: Looks) -> list[TranscriptLine]:
    """A block of code on its own background."""
    rows = highlight(clean(text).split("\n"), language, looks)
    return [line._replace(fill=looks.code_block) for row in rows for line in fold(row, width)]
