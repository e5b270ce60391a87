"""The strategies of an evaluation, a line for each."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from rich.text import Text

from pinfold.evaluation.recorded_now import SHOWN
from pinfold.evaluation.recorded_scores import Measure
from pinfold.evaluation.verdict import LOST
from pinfold.numbers import bar, tokens
from pinfold.sanitize import one_line
from pinfold.tui.colours import ink
from pinfold.tui.panels.fitting import cell, fitted
from pinfold.tui.panels.line_list import Line, LineList

HEADS: Mapping[Measure, str] = {
    "need": "need",
    "words": "words",
    "changed": "edited",
    "read": "read",
    "errors": "errors",
}
ENOUGH = 12
"""Cells that the name gets before any other column may stand beside it."""
_GIVE_WAY = {"time": 0, "read": 0, "errors": 0, "changed": 0, "tokens": 0}


@dataclass(frozen=True, slots=True)
class Tried:
    """A strategy, and what came of it."""

    strategy: str
    kept: Mapping[Measure, float]
    after: int = 0
    """Tokens of the window's items."""
    over: bool = False
    """Whether that is more than a compaction aims at, so that it is not to be compared."""
    milliseconds: float = 0.0
    by: str = ""
    """The strategy that took its place."""
    failed: str = ""

    @property
    def mean(self) -> float:
        """Of all shares."""
        return fmean(self.kept.values()) if self.kept else 0.0

    @property
    def name(self) -> str:
        return one_line(f"{self.strategy} → {self.by}" if self.by else self.strategy)


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of each column; one with none is left out."""

    words: int = 0
    """The name."""
    need: int = 6
    said: int = 6
    changed: int = 6
    read: int = 6
    errors: int = 6
    tokens: int = 7
    time: int = 8

    @classmethod
    def fitting(cls, width: int) -> "Columns":
        """The columns for `width` cells, behind the cursor's one."""
        return cls(**fitted(asdict(cls()), width - 2, _GIVE_WAY, ENOUGH))

    def of(self, measure: Measure) -> int:
        return self.said if measure == "words" else int(getattr(self, measure))


class EvalList(LineList):
    """Those tried so far, in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.tried: dict[str, Tried] = {}

    @property
    def chosen(self) -> Tried | None:
        """The strategy under the cursor."""
        return self.tried.get(self.current or "")

    def show_tried(self, tried: Sequence[Tried]) -> None:
        self.tried = {one.strategy: one for one in tried}
        self.show([Line(one.strategy, "", one.name) for one in tried], top=False)

    def heads(self, width: int) -> str:
        """What stands above the columns."""
        columns = Columns.fitting(width)
        heads = "".join(cell(HEADS[measure], columns.of(measure), right=True) for measure in SHOWN)
        last = (
            f"{cell('tokens', columns.tokens, right=True)}{cell('time', columns.time, right=True)}"
        )
        return f" {cell('', columns.words)}{heads}{last}".rstrip()

    def _draw(self, line: Line, chosen: bool, width: int) -> Text:
        tried, columns = self.tried[line.key], Columns.fitting(width)
        plain, dim = ink(self.app, "foreground"), ink(self.app, "foreground 60%")
        weak = ink(self.app, "warning")
        text = Text("▎" if chosen else " ", ink(self.app, "accent"), end="")
        text.append(cell(tried.name, columns.words), plain)
        if tried.failed:
            return text.append("not run", dim)
        for measure in SHOWN:
            share = tried.kept.get(measure)
            shown = "– " if share is None else f"{share:.2f}{bar(share)}"
            style = dim if share is None else weak if share < LOST else plain
            text.append(cell(shown, columns.of(measure), right=True), style)
        size = f"{'!' if tried.over else ''}{tokens(tried.after)}"
        style = weak if tried.over else plain
        text.append(cell(size, columns.tokens, right=True), style)
        return text.append(cell(f"{tried.milliseconds:.0f} ms", columns.time, right=True), dim)
