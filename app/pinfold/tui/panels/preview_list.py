"""The preview's list: a line for each item, of which only those in view are drawn."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.style import Style

from pinfold.commands.context_text import KINDS
from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.tui.colours import colour
from pinfold.tui.gauge import LETTERS
from pinfold.tui.panels.fitting import fitted
from pinfold.tui.panels.preview_rows import PreviewRow, collapsed
from pinfold.tui.panels.table import Cell, Sizes, Table
from pinfold.window.counts import SEGMENTS

_GIVE_WAY: tuple[tuple[dict[str, int], int], ...] = (
    ({"kind": 7, "reason": 0, "verdict": 8}, 36),
    ({"kind": 1, "verdict": 0}, 18),
)
"""What shrinks, and the cells of words from which on it does not. The reason goes first: the foot
has that of the row under the cursor."""
_INKS = {
    "kept": "foreground 60%",
    "pinned": "accent",
    "shortened": "warning",
    "masked": "warning",
    "folded": "warning",
    "archived": "foreground 45%",
    "replaced": "foreground 45%",
    "inserted": "success",
}


def figures(row: PreviewRow) -> str:
    """`+1.7k` comes, `−268` goes, `1.2k → 34`; what takes as much as before is said once."""
    if row.inserted is not None:
        return f"+{tokens(row.after)}"
    if row.goes and row.before:
        return f"−{tokens(row.before)}"
    if row.before == row.after:
        return tokens(row.before)
    return f"{tokens(row.before)} → {tokens(row.after)}"


class PreviewList(Table[PreviewRow]):
    """A cursor that stays on its item from plan to plan."""

    SIZES: ClassVar[Sizes] = {
        "sign": 1,
        "verdict": 9,
        "number": 2,
        "kind": 10,
        "words": 0,
        "tokens": 2,
        "reason": 22,
    }
    RIGHT = ("number", "tokens")

    def __init__(self) -> None:
        super().__init__()
        self.planned = False
        """Whether a plan has ever been shown."""
        self._all: Sequence[PreviewRow] = ()
        self._runs = False
        self._opened: set[int] = set()
        """Items whose run is open."""

    @property
    def columns(self) -> dict[str, int]:
        """Those that fit."""
        sizes = self.sizes
        for give_way, enough in _GIVE_WAY:
            room = self.scrollable_content_region.width - self.MARKS - 1
            sizes = fitted(sizes, room, give_way, enough)
            if sizes["words"] >= enough:
                break
        return sizes

    def show_rows(self, rows: Sequence[PreviewRow], *, runs: bool = False) -> None:
        """Show `rows`; with `runs`, those of one verdict as a line."""
        self._all, self._runs = rows, runs
        rows = collapsed(rows, self._opened) if runs else rows
        numbers = (len(str(row.n)) + 1 for row in rows if row.n is not None)
        self.sizes["number"] = max(numbers, default=2)
        self.sizes["tokens"] = max((len(figures(row)) for row in rows), default=2)
        self.show({row.key: row for row in rows})

    def open_run(self, numbers: Sequence[int]) -> None:
        """Show the items of a run, the cursor on the first."""
        self._opened.update(numbers)
        self.show_rows(self._all, runs=self._runs)
        self.go(self._places[str(numbers[0])])

    def open_or_close_runs(self) -> None:
        """Open every run, or close them where none is left to open."""
        closed = any(row.run for row in self.items)
        numbers = (row.n for row in self._all if row.n is not None)
        self._opened = set(numbers) if closed else set()
        self.show_rows(self._all, runs=self._runs)

    def stay(self) -> None:
        """The cursor is about its item from here on."""
        self.move(0)

    def under(self, row: PreviewRow, *, chosen: bool) -> Style:
        if row.inserted is None or chosen or self.app.no_color:
            return super().under(row, chosen=chosen)
        under = colour(self.app, "background") + colour(self.app, "diff-added")
        return Style(bgcolor=under.rich_color)

    def cells(self, row: PreviewRow) -> Iterable[Cell]:
        dim, verdict = self.ink("foreground 60%"), self.ink(_INKS[row.verdict])
        words = dim if row.goes else self.ink("foreground")
        # Where there is no room, the kind is the letter that the gauge has for it.
        is_narrow = self.columns["kind"] == 1
        yield row.sign, verdict + Style(bold=True)
        yield row.verdict, verdict
        yield f"#{row.n}" if row.n is not None else "", dim
        kind = LETTERS[SEGMENTS[row.kind]] if is_narrow else KINDS[row.kind]
        yield "" if row.run else kind, dim
        yield one_line(row.words), words
        yield figures(row), words
        yield one_line(row.reason), dim
