"""The windows of a session, a line for each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.tui.panels.table import Cell, Sizes, Table
from pinfold.window.boundary_text import why
from pinfold.window.generations import Generation
from pinfold.window.window import Boundary

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
        """Tokens before and after the change that made it."""
        made = self.generation.tokens
        return f"{tokens(made.before)} → {tokens(made.after)}" if made else ""


def pasts(generations: Sequence[Generation], boundaries: Sequence[Boundary]) -> list[Past]:
    """Each with what made it, oldest first."""
    made = ["the first", *(one_line(why(boundary)) for boundary in boundaries)]
    last = len(generations) - 1
    return [Past(generation, made[at], at == last) for at, generation in enumerate(generations)]


class HistoryList(Table[Past]):
    """Marks the window that others are compared with."""

    SIZES: ClassVar[Sizes] = {
        "number": 0,
        "sign": 1,
        "words": 0,
        "tokens": 13,
        "items": 11,
        "since": 11,
    }
    RIGHT = ("number", "tokens", "items", "since")
    GIVE_WAY: ClassVar[Sizes] = {"items": 0, "since": 0}
    ENOUGH = 22

    def __init__(self) -> None:
        super().__init__()
        self.marked: int | None = None

    def show_pasts(self, found: Sequence[Past]) -> None:
        """Show `found`; the newest is at the top."""
        self.sizes["number"] = max((len(str(past.number)) for past in found), default=0)
        self.show({str(past.number): past for past in reversed(found)})

    def mark(self, generation: int | None) -> None:
        """Mark that window alone."""
        self.marked = generation
        self.refresh()

    def cells(self, row: Past) -> Iterable[Cell]:
        dim, plain = self.ink("foreground 60%"), self.ink("foreground")
        sign = MARKED if row.number == self.marked else NOW if row.now else ""
        yield str(row.number), plain
        yield sign, self.ink("accent")
        yield row.why, plain
        yield row.sizes, plain
        yield row.items, dim
        yield row.since[-self.SIZES["since"] :], dim
