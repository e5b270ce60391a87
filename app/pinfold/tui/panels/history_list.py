"""The windows of a session, a line for each."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rich.text import Text

from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.tui.colours import ink
from pinfold.tui.panels.fitting import cell, fitted
from pinfold.tui.panels.line_list import Line, LineList
from pinfold.window.boundary_text import why
from pinfold.window.generations import Generation
from pinfold.window.window import Boundary

ENOUGH = 22
"""Cells that the words get before any other column may stand beside them."""
_GIVE_WAY = {"items": 0, "since": 0}
NOW, MARKED = "●", "◆"


@dataclass(frozen=True, slots=True)
class Past:
    """A window, and what made it."""

    generation: Generation
    why: str
    now: bool

    @property
    def number(self) -> int:
        return self.generation.generation

    @property
    def name(self) -> str:
        return f"window {self.number}{' (now)' if self.now else ''}"

    @property
    def since(self) -> str:
        since = self.generation.since
        return f"{since.astimezone():%Y-%m-%d %H:%M}" if since else ""

    @property
    def items(self) -> str:
        count = self.generation.items
        return f"{count:,} item{'s' if count != 1 else ''}"

    @property
    def sizes(self) -> str:
        """What the change came to that made it."""
        made = self.generation.tokens
        return f"{tokens(made.before)} → {tokens(made.after)}" if made else ""


def pasts(generations: Sequence[Generation], boundaries: Sequence[Boundary]) -> list[Past]:
    """Each with what made it, oldest first."""
    made = ["the first", *(one_line(why(each)) for each in boundaries)]
    last = len(generations) - 1
    return [Past(each, made[at], at == last) for at, each in enumerate(generations)]


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of each column; one with none is left out."""

    number: int
    sign: int = 1
    words: int = 0
    tokens: int = 13
    items: int = 11
    since: int = 11

    @classmethod
    def fitting(cls, width: int, number: int) -> "Columns":
        """The columns for `width` cells, behind the cursor's one."""
        return cls(**fitted(asdict(cls(number)), width - 2, _GIVE_WAY, ENOUGH))


class HistoryList(LineList):
    """A cursor, and the mark on the window that others are compared with."""

    def __init__(self) -> None:
        super().__init__()
        self.pasts: dict[str, Past] = {}
        """By key, in order."""
        self.marked: int | None = None

    @property
    def past(self) -> Past | None:
        """The window under the cursor."""
        return self.pasts[self.current] if self.current is not None else None

    def show_pasts(self, found: Sequence[Past]) -> None:
        """Show `found`; the newest stands at the top."""
        self.pasts = {str(each.number): each for each in reversed(found)}
        self.show([Line(key, "", each.why) for key, each in self.pasts.items()], top=False)

    def mark(self, generation: int | None) -> None:
        """Mark that window alone."""
        self.marked = generation
        self.refresh()

    def _draw(self, line: Line, chosen: bool, width: int) -> Text:
        past = self.pasts[line.key]
        number = max(len(key) for key in self.pasts)
        columns = Columns.fitting(width, number)
        dim, plain = ink(self.app, "foreground 60%"), ink(self.app, "foreground")
        accent = ink(self.app, "accent")
        sign = MARKED if past.number == self.marked else NOW if past.now else ""
        cells = (
            (line.key, columns.number, plain, True),
            (sign, columns.sign, accent, False),
            (past.why, columns.words, plain, False),
            (past.sizes, columns.tokens, plain, True),
            (past.items, columns.items, dim, True),
            (past.since[-columns.since :], columns.since, dim, True),
        )
        text = Text("▎" if chosen else " ", accent, end="")
        for said, size, style, right in cells:
            text.append(cell(said, size, right=right), style)
        return text
