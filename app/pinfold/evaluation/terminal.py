"""A report on a terminal, at most 80 columns wide."""

from collections.abc import Iterable, Iterator

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from pinfold.evaluation.report import (
    Amount,
    Cell,
    EvalReport,
    ReportPart,
    ReportSection,
    ReportTable,
    Score,
)
from pinfold.numbers import bar
from pinfold.sanitize import one_line

WIDTH = 80
_SHORTEST_BAR, _LONGEST_BAR = 4, 8
"""Columns of a horizontal bar; with less room it is a vertical one in a single column."""


def printed(report: EvalReport) -> Group:
    return Group(
        Text(report.title, "bold"),
        Text(" · ".join(map(one_line, report.facts))),
        *_sections([*report.details, *report.sections]),
        Text(""),
        Text(one_line(report.verdict)),
    )


def explained(sections: Iterable[ReportSection]) -> Group:
    return Group(*_sections(sections))


def _sections(sections: Iterable[ReportSection]) -> Iterator[RenderableType]:
    for section in sections:
        yield Text("")
        yield Text(one_line(section.title), "bold")
        for part in section.parts:
            yield _part(part)


def _part(part: ReportPart) -> RenderableType:
    if isinstance(part, str):
        return Text(one_line(part))
    if isinstance(part, ReportTable):
        return Group(*([Text(part.caption, "dim")] if part.caption else ()), _grid(part))
    terms = Grid.grid(padding=(0, 1, 0, 0))
    for term, definition in part:
        terms.add_row(Text(term), Text(definition))
    return terms


def _grid(table: ReportTable) -> Grid:
    named = max((cell_len(row.name) for row in table.rows), default=0)
    room = (WIDTH - named) // len(table.heads) - len("0.00  ")
    bars = min(room, _LONGEST_BAR) if room >= _SHORTEST_BAR else 1
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    grid.add_column(overflow="fold")
    for at, head in enumerate(table.heads):
        cells = [row.cells[at] for row in table.rows]
        lines = [line for cell in cells for line in _cell(cell, bars).plain.splitlines()]
        grid.add_column(
            Text(head, "bold"),
            justify="left" if any(isinstance(cell, Score) for cell in cells) else "right",
            width=max(map(cell_len, [*head.split(), *lines])),
        )
    for row in table.rows:
        name = Text(one_line(row.name), "dim" if row.kind == "baseline" else "")
        grid.add_row(name, *(_cell(cell, bars) for cell in row.cells))
    return grid


def _cell(cell: Cell, width: int) -> Text:
    match cell:
        case Score(mean, deviation):
            gap = " " if width > 1 else ""
            spread = f"\n±{deviation:.2f}".replace("±0", "±") if deviation else ""
            return Text(f"{mean:.2f}{gap}{bar(mean, width)}{spread}")
        case Amount(text, over=over):
            return Text(f"{'!' if over else ''}{text}")
        case _:
            return Text(one_line(cell))
