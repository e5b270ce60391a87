"""One line of the context panel: its columns, and what gives way where there is no room."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.app import App

from pinfold.commands.context_text import SIGNS, age, kind, marks, words
from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.tui.colours import ground, ink
from pinfold.tui.gauge import LETTERS, variable
from pinfold.tui.panels.context_rows import AnyRow, Sort, segment
from pinfold.tui.panels.fitting import fitted
from pinfold.tui.transcript.lines import clip
from pinfold.window.gauge import ORDER
from pinfold.window.overview import Row

ENOUGH = 24
"""Cells that the words get before any other column may stand beside them."""
SLIGHT = 0.0005
"""A share of the context window that would be shown as none."""
_GIVE_WAY = {"percent": 0, "file": 0, "kind": 2, "age": 0, "bar": 0}
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_SIGN = "■"


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of each column; one with none is left out."""

    number: int
    marks: int = 2
    kind: int = 12
    words: int = 0
    file: int = 22
    tokens: int = 7
    bar: int = 8
    percent: int = 5
    age: int = 4

    @classmethod
    def fitting(cls, width: int, number: int) -> "Columns":
        """The columns for `width` cells, after the cursor's two."""
        return cls(**fitted(asdict(cls(number)), width - 3, _GIVE_WAY, ENOUGH))


class Title(NamedTuple):
    """The heading of a column."""

    text: str
    width: int
    right: bool
    sort: Sort | None
    """What a click on it sorts by."""


def titles(columns: Columns) -> list[Title]:
    """The headings, in the order of the columns."""
    every = [
        Title("#", columns.number, True, "order"),
        Title("", columns.marks, False, None),
        Title("kind" if columns.kind > 2 else "", columns.kind, False, "kind"),
        Title("words", columns.words, False, None),
        Title("file", columns.file, False, None),
        Title("tokens", columns.tokens, True, "size"),
        Title("share", columns.bar, False, "size"),
        Title("", columns.percent, True, "size"),
        Title("age", columns.age, True, "age"),
    ]
    return [title for title in every if title.width]


class Looks(NamedTuple):
    """The styles of the panel's lines."""

    plain: Style
    dim: Style
    number: Style
    cursor: Style
    """Carries the background of the row under the cursor."""
    selected: Style
    """Carries the background of selected rows."""
    mark: Style
    segments: dict[str, Style]
    letters: bool
    """Kinds are told by letters, for want of colour."""


def looks_of(app: App[Any]) -> Looks:
    """The looks under the theme of now."""
    return Looks(
        plain=ink(app, "foreground"),
        dim=ink(app, "foreground 60%"),
        number=ink(app, "foreground 45%"),
        cursor=ground(app, "primary 24%"),
        selected=ground(app, "accent 16%"),
        mark=ink(app, "accent") + Style(bold=True),
        segments={name: ink(app, variable(name)) for name in ORDER},
        letters=app.no_color,
    )


class Drawn(NamedTuple):
    """How a row stands among the others."""

    largest: int
    """Tokens of the largest row: a full bar."""
    now: datetime
    cursor: bool
    selected: bool


def draw(row: AnyRow, columns: Columns, looks: Looks, how: Drawn) -> list[Segment]:
    """A row as segments of the full width."""
    segments = [
        Segment("▎" if how.cursor else " ", looks.mark),
        Segment("✓" if how.selected else " ", looks.mark),
    ]
    for full, width, style, right in _cells(row, columns, looks, how):
        if width:
            text = clip(full, width)
            room = " " * (width - cell_len(text))
            segments.append(Segment(f"{room}{text} " if right else f"{text}{room} ", style))
    under = looks.cursor if how.cursor else looks.selected if how.selected else None
    if under is not None:
        back = Style(bgcolor=under.bgcolor)
        segments = [Segment(text, (style or Style()) + back) for text, style, _ in segments]
    return segments


def _cells(
    row: AnyRow, columns: Columns, looks: Looks, how: Drawn
) -> Iterator[tuple[str, int, Style, bool]]:
    item = row if isinstance(row, Row) else None
    said = marks(row)
    plain = looks.dim if "folded" in said else looks.plain
    name = segment(row)
    colour = looks.segments[name]
    sign = LETTERS[name] if looks.letters else _SIGN
    yield f"#{item.n}" if item else "", columns.number, looks.number, True
    yield "".join(SIGNS[mark] for mark in said), columns.marks, looks.mark, False
    yield f"{sign} {kind(row)}" if columns.kind > 2 else sign, columns.kind, colour, False
    yield words(row), columns.words, plain, False
    yield _file(item, columns.file), columns.file, looks.dim, False
    yield tokens(row.tokens) if row.tokens else "–", columns.tokens, plain, True
    yield _bar(row.tokens, how.largest, columns.bar), columns.bar, colour, False
    yield (
        f"{item.share:.1%}" if item and item.share > SLIGHT else "",
        columns.percent,
        looks.dim,
        True,
    )
    yield age(item.at, how.now) if item else "", columns.age, looks.dim, True


def _file(row: Row | None, width: int) -> str:
    """The file, its end where there is no room for all; and how many more there are."""
    if row is None or not row.files:
        return ""
    more = f" +{len(row.files) - 1}" if len(row.files) > 1 else ""
    path, room = one_line(row.files[0]), width - len(more)
    return (path if cell_len(path) <= room else f"…{path[-(room - 1) :]}") + more


def _bar(count: int, largest: int, width: int) -> str:
    eighths = max(1, count * width * 8 // largest) if count and largest else 0
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
