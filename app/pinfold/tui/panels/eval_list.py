"""The strategies of an evaluation, a line for each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

from rich.segment import Segment

from pinfold.evaluation.recorded_now import SHOWN
from pinfold.evaluation.recorded_scores import Measure
from pinfold.evaluation.verdict import LOST
from pinfold.numbers import bar, tokens
from pinfold.sanitize import one_line
from pinfold.tui.panels.fitting import cell
from pinfold.tui.panels.table import Cell, Heading, Sizes, Table

SHARES = {
    "need": "need",
    "said": "words",
    "changed": "edited",
    "read": "read",
    "errors": "errors",
}
"""The columns of `SHOWN`, in its order, and what is above them."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A strategy and its result."""

    strategy: str
    kept: Mapping[Measure, float]
    after: int = 0
    """Tokens of the window's items."""
    over: bool = False
    """Whether that exceeds the target, so it is not compared."""
    milliseconds: float = 0.0
    by: str = ""
    """The strategy it fell back to."""
    failed: str = ""

    @property
    def mean(self) -> float:
        """Of all shares."""
        return fmean(self.kept.values()) if self.kept else 0.0

    @property
    def name(self) -> str:
        return one_line(f"{self.strategy} → {self.by}" if self.by else self.strategy)


class EvalList(Table[Tried]):
    SIZES: ClassVar[Sizes] = {"words": 0, **dict.fromkeys(SHARES, 6), "tokens": 7, "time": 8}
    RIGHT = (*SHARES, "tokens", "time")
    HEADS: ClassVar[Mapping[str, str]] = {**SHARES, "tokens": "tokens", "time": "time"}
    GIVE_WAY: ClassVar[Sizes] = {"time": 0, "read": 0, "errors": 0, "changed": 0, "tokens": 0}
    ENOUGH = 12

    def show_tried(self, tried: Sequence[Tried]) -> None:
        rows: dict[str, Tried | Heading] = {one.strategy: one for one in tried}
        self.show({"": Heading("", columns=True), **rows} if rows else {})

    def draw(self, row: Tried, *, chosen: bool) -> Iterable[Segment]:
        if not row.failed:
            yield from super().draw(row, chosen=chosen)
            return
        yield self.cursor(chosen=chosen)
        yield Segment(cell(row.name, self.columns["words"]), self.ink("foreground"))
        yield Segment("not run", self.ink("foreground 60%"))

    def cells(self, row: Tried) -> Iterable[Cell]:
        plain, dim, weak = self.ink("foreground"), self.ink("foreground 60%"), self.ink("warning")
        yield row.name, plain
        for measure in SHOWN:
            share = row.kept.get(measure)
            if share is None:
                yield "– ", dim
            else:
                yield f"{share:.2f}{bar(share)}", weak if share < LOST else plain
        yield f"{'!' if row.over else ''}{tokens(row.after)}", weak if row.over else plain
        yield f"{row.milliseconds:.0f} ms", dim
