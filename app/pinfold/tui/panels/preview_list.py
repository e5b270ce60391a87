"""The preview's list: a line for each item, of which only those in view are drawn."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rich.style import Style
from rich.text import Text

from pinfold.commands.context_text import KINDS
from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.tui.colours import colour, ink
from pinfold.tui.gauge import LETTERS
from pinfold.tui.panels.fitting import cell, fitted
from pinfold.tui.panels.line_list import Line, LineList
from pinfold.tui.panels.preview_rows import PreviewRow
from pinfold.window.gauge import SEGMENTS

_GIVE_WAY: tuple[tuple[dict[str, int], int], ...] = (
    ({"kind": 7, "reason": 0}, 36),
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
    "archived": "error",
    "replaced": "error",
    "inserted": "success",
}


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of each column; one with none is left out."""

    number: int
    tokens: int
    sign: int = 1
    verdict: int = 8
    kind: int = 10
    words: int = 0
    reason: int = 22

    @classmethod
    def fitting(cls, width: int, number: int, tokens: int) -> "Columns":
        """The columns for `width` cells, behind the cursor's one."""
        sizes = asdict(cls(number, tokens))
        for give_way, enough in _GIVE_WAY:
            sizes = fitted(sizes, width - 2, give_way, enough)
            if sizes["words"] >= enough:
                break
        return cls(**sizes)


def figures(row: PreviewRow) -> str:
    """`+1.7k` comes, `−268` goes, `1.2k → 34`; what takes as much as before is said once."""
    if row.inserted is not None:
        return f"+{tokens(row.after)}"
    if row.goes and row.before:
        return f"−{tokens(row.before)}"
    if row.before == row.after:
        return tokens(row.before)
    return f"{tokens(row.before)} → {tokens(row.after)}"


class PreviewList(LineList):
    """A cursor that stays on its item from plan to plan."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, PreviewRow] = {}
        """By key, in order."""
        self._number = self._tokens = 2
        self.planned = False
        """Whether a plan has ever been shown."""

    @property
    def row(self) -> PreviewRow | None:
        """The row under the cursor."""
        return self.rows[self.current] if self.current is not None else None

    @property
    def columns(self) -> Columns:
        """Those that fit."""
        width = self.scrollable_content_region.width
        return Columns.fitting(width, self._number, self._tokens)

    def show_rows(self, rows: Sequence[PreviewRow]) -> None:
        """Show `rows`; a cursor that the user moved stays on its item, and that in its place."""
        y = round(self.scroll_offset.y)
        seen = self._cursor - y
        self.rows = {row.key: row for row in rows}
        self._number = max((len(str(row.n)) + 1 for row in rows if row.n is not None), default=2)
        self._tokens = max((len(figures(row)) for row in rows), default=2)
        self.show([Line(row.key, "", row.words) for row in rows], top=False)
        if y:
            self.scroll_to(y=self._cursor - seen)

    def stay(self) -> None:
        """The cursor is about its item from here on."""
        self.move(0)

    def _draw(self, line: Line, chosen: bool, width: int) -> Text:
        row, columns = self.rows[line.key], Columns.fitting(width, self._number, self._tokens)
        dim = ink(self.app, "foreground 60%")
        verdict = ink(self.app, _INKS[row.verdict])
        words = dim if row.goes else ink(self.app, "foreground")
        text = Text("▎" if chosen else " ", ink(self.app, "accent"), end="")
        kind = KINDS[row.kind]
        # Where there is no room, the kind is the letter that the gauge has for it.
        kind = kind if columns.kind > 1 else LETTERS[SEGMENTS[row.kind]]
        cells = (
            (row.sign, columns.sign, verdict + Style(bold=True), False),
            (row.verdict, columns.verdict, verdict, False),
            (f"#{row.n}" if row.n is not None else "", columns.number, dim, True),
            (kind, columns.kind, dim, False),
            (one_line(row.words), columns.words, words, False),
            (figures(row), columns.tokens, words, True),
            (one_line(row.reason), columns.reason, dim, False),
        )
        for said, size, style, right in cells:
            text.append(cell(said, size, right=right), style)
        if row.inserted is not None and not chosen and not self.app.no_color:
            under = colour(self.app, "background") + colour(self.app, "diff-added")
            text.stylize(Style(bgcolor=under.rich_color))
        return text
