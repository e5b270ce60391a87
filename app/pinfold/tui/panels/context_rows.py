"""Which rows of the window are shown, and in which order."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from pinfold.commands.context_text import KINDS, PARTS, SIGNS, kind, marks, words
from pinfold.window.counts import ORDER, SEGMENTS
from pinfold.window.overview import ContextRow, ItemRow
from pinfold.window.pins import concerns


class FixedRow(ContextRow, frozen=True):
    """The fixed part of every request, as one row."""


AnyRow = ContextRow | ItemRow
Sort = Literal["order", "size", "age", "kind"]
SORTS: tuple[Sort, ...] = ("order", "size", "age", "kind")
_NAMES = {
    **{word: word for word in (*KINDS.values(), *PARTS.values())},
    **{str(name): word for name, word in KINDS.items()},
    **{f"{word}s": word for word in (*KINDS.values(), "tool")},
    "replies": "reply",
    "instructions": "system",
}
"""What a filter may call the kinds."""


def key(row: AnyRow) -> str:
    """Unique, and the same after a change."""
    return str(row.n) if isinstance(row, ItemRow) else f"{row.part}/{row.name}"


def segment(row: AnyRow) -> str:
    """The gauge's segment that a row's kind belongs to."""
    return SEGMENTS[row.kind] if isinstance(row, ItemRow) else row.part


def fixed(rows: Sequence[ContextRow]) -> FixedRow:
    """The rows of the fixed part as one: `▸ instructions, AGENTS.md, 13 tools`."""
    names = Counter(row.part for row in rows if row.tokens)
    counted = ("tools", "servers")
    said = [
        f"{count} {name.removesuffix('s') if count == 1 else name}" if name in counted else name
        for name, count in names.items()
    ]
    return FixedRow("instructions", f"▸ {', '.join(said)}", sum(row.tokens for row in rows))


def arrange(rows: Iterable[AnyRow], sort: Sort) -> list[AnyRow]:
    """`rows`, which come in order; the largest or the newest first. What is before the window
    goes before all, where it is one row."""
    rows = list(rows)
    if rows and isinstance(rows[0], FixedRow):
        return [rows[0], *arrange(rows[1:], sort)]
    match sort:
        case "order":
            return rows
        case "size":
            return sorted(rows, key=lambda row: -row.tokens)
        case "age":
            return sorted(rows, key=lambda row: -row.n if isinstance(row, ItemRow) else 0)
        case "kind":
            return sorted(rows, key=lambda row: (ORDER.index(segment(row)), kind(row)))


def chosen(rows: Iterable[AnyRow], query: str, text: Callable[[AnyRow], str]) -> list[AnyRow]:
    """The rows that fit all words of `query`; `text` gives one in full."""
    fits = [_test(word, text) for word in query.lower().split()]
    return [row for row in rows if all(fit(row) for fit in fits)]


def _test(word: str, text: Callable[[AnyRow], str]) -> Callable[[AnyRow], bool]:
    if word in SIGNS:
        return lambda row: word in marks(row)
    if word in _NAMES:
        return lambda row: kind(row) == _NAMES[word]
    if word[0] == "#" and word[1:].isdecimal():
        return lambda row: isinstance(row, ItemRow) and row.n == int(word[1:])
    if set(word) & set("*?[{"):
        pattern = word if "/" in word else f"**/{word}"
        return lambda row: concerns(pattern, [path.lower() for path in _files(row)])
    return lambda row: (
        word in words(row).lower()
        or any(word in path.lower() for path in _files(row))
        or word in text(row).lower()
    )


def _files(row: AnyRow) -> tuple[str, ...]:
    if isinstance(row, ItemRow):
        return row.files
    return (row.name,) if row.part == "AGENTS.md" else ()
