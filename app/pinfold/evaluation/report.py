"""A report on strategies as plain data, for a terminal and for an HTML page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pinfold.evaluation.scores import Spread


@dataclass(frozen=True, slots=True)
class Score:
    """A share in [0, 1]."""

    mean: float
    deviation: float = 0.0


@dataclass(frozen=True, slots=True)
class Amount:
    """Any other figure."""

    text: str
    share: float
    """Compared with the largest in its column."""
    over: bool = False


Cell = Score | Amount | str


@dataclass(frozen=True, slots=True)
class ScoreRow:
    name: str
    kind: str
    """`ours`, `baseline`, `recording`, or empty."""
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class ReportTable:
    caption: str
    heads: Sequence[str]
    rows: Sequence[ScoreRow]


ReportPart = str | ReportTable | Sequence[tuple[str, str]]
"""A paragraph, a table, or terms with their definitions."""


@dataclass(frozen=True, slots=True)
class ReportSection:
    title: str
    parts: Sequence[ReportPart]


@dataclass(frozen=True, slots=True)
class EvalReport:
    title: str
    verdict: str
    facts: Sequence[str]
    sections: Sequence[ReportSection]
    details: Sequence[ReportSection] = ()
    """Collapsed on a page; first on a terminal."""
    background: Sequence[ReportSection] = ()
    """Only on a page."""


def score(of: Spread | float | None) -> Cell:
    match of:
        case None:
            return "–"
        case Spread():
            return Score(of.mean, of.deviation)
        case _:
            return Score(of)


def amount(text: str, value: float, every: Iterable[float], *, over: bool = False) -> Amount:
    """`value` compared with the largest of `every`."""
    most = max(every, default=0.0)
    return Amount(text, value / most if most else 0.0, over)


def html(report: EvalReport) -> str:
    """A page that loads nothing from the network."""
    from pinfold import __version__
    from pinfold.export.document import render

    return render("evaluation/report", report=report, title=report.title, version=__version__)
