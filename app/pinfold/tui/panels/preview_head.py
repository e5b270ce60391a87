"""The head of the preview: what the window comes to, and what the other strategies would do."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.style import Style
from rich.text import Text
from textual.app import App

from pinfold.commands.failures import told
from pinfold.compaction.refusals import Impossible, NoGain
from pinfold.compaction.report import DryRunReport
from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.tui.colours import ink

Outcome = DryRunReport | Exception
"""What a strategy would do, or why it can't."""
_BOLD = Style(bold=True)
HALF = 38
"""Cells of a strategy, where two stand on a line."""
STAYS, GOES, FREE, RESERVE = "━", "┅", "─", "╌"


def totals(app: App[Any], report: DryRunReport, width: int) -> Text:
    """`42.1k → 11.3k  −30.8k, −73%  free 2,048 · reserve 2k · calibrated · window table`, as
    far as there is room."""
    text = Text().append(f"{tokens(report.before)} → {tokens(report.after)}  ", _BOLD)
    less = report.before - report.after
    delta = f"{_sign(less)}{tokens(abs(less))}, {_delta(report)}"
    text.append(delta, ink(app, "success") + _BOLD)
    facts = (
        f"  free {report.headroom:,}",
        f" · reserve {tokens(report.reserve)}",
        f" · {report.source}",
        f" · window {report.window_source}",
    )
    for fact in facts:
        if text.cell_len + len(fact) <= width:
            text.append(fact, ink(app, "foreground 60%"))
    return text


def counts(app: App[Any], report: DryRunReport, width: int) -> Text:
    """How many items stay and go, and what that costs; what has no room is left out."""
    inserted = f"inserted {len(report.inserted):,}"
    masked = f"masked {report.masked:,}" if report.masked else ""
    cache = f"invalidates {tokens(report.uncached)} cached tokens" if report.uncached else ""
    kept = f"kept {report.kept:,} ({report.pinned:,} pinned)"
    said = [*filter(None, (kept, masked, f"archived {report.archived:,}", inserted, cache))]
    for least in (inserted, masked, cache):
        if least in said and len(" · ".join(said)) > width:
            said.remove(least)
    return Text(" · ".join(said), ink(app, "foreground 60%"))


def bar(app: App[Any], report: DryRunReport, width: int) -> Text:
    """The model's window: what stays, what goes, what is free, what the reply may take."""
    limit = max(report.limit, report.before, 1)
    ends = [
        round(width * part / limit)
        for part in (report.after, report.before, max(limit - report.reserve, report.before), limit)
    ]
    text, at = Text(), 0
    looks = (
        (STAYS, "success"),
        (GOES, "foreground 45%"),
        (FREE, "gauge-free"),
        (RESERVE, "gauge-reserve"),
    )
    for end, (sign, name) in zip(ends, looks, strict=True):
        text.append(sign * max(0, end - at), ink(app, name))
        at = max(at, end)
    return text


def strategies(
    app: App[Any],
    names: Sequence[str],
    chosen: str,
    outcomes: Mapping[str, Outcome | None],
    columns: int,
) -> Text:
    """Each strategy's figures in so many columns, the chosen one marked.

    An outcome is None where a model would have to be asked first, and absent while it is made.
    """
    dim, strong = ink(app, "foreground 60%"), ink(app, "foreground")
    width = max((len(one_line(name)) for name in names), default=0)
    cells = []
    for at, name in enumerate(names, 1):
        marked = name == chosen
        cell = Text().append("▸ " if marked else "  ", ink(app, "accent") + _BOLD)
        cell.append(f"{at if at < 10 else ' '} ", dim)
        cell.append(one_line(name).ljust(width), strong + _BOLD if marked else dim)
        cell.append("  " if columns == 1 else " ").append(
            _outcome_text(name, outcomes, columns), strong if marked else dim
        )
        cells.append(cell)
    if columns == 1:
        return Text("\n").join(cells)
    rows = -(-len(cells) // columns)
    for cell in cells:
        cell.truncate(HALF - 1, overflow="ellipsis", pad=True)
    return Text("\n").join(Text(" ").join(cells[row::rows]) for row in range(rows))


def in_brief(
    app: App[Any], names: Sequence[str], chosen: str, outcomes: Mapping[str, Outcome | None]
) -> Text:
    """Each strategy's key and name, and what it saves where that is known, to be wrapped."""
    dim, strong = ink(app, "foreground 60%"), ink(app, "foreground") + _BOLD
    cells = []
    for at, name in enumerate(names, 1):
        found = outcomes.get(name)
        share = f"\u00a0{_delta(found)}" if isinstance(found, DryRunReport) else ""
        sign = "▸" if name == chosen else ""
        said = f"{sign}{at}\u00a0{one_line(name)}{share}"
        cells.append(Text(said, strong if name == chosen else dim))
    return Text("  ").join(cells)


def _outcome_text(name: str, outcomes: Mapping[str, Outcome | None], columns: int) -> str:
    if name not in outcomes:
        return "…"
    outcome = outcomes[name]
    match outcome:
        case None:
            return "uses the model" if columns > 1 else "uses the model: Enter runs it"
        case DryRunReport():
            other = one_line(outcome.strategy) if outcome.strategy != name else ""
            if columns > 1:
                return f"{tokens(outcome.after):<5} {_delta(outcome):>4} {other}".rstrip()
            by = f"  fell back to {other}" if other else ""
            size = f"{tokens(outcome.before)} → {tokens(outcome.after)}"
            return f"{size:<15}  {_delta(outcome):>4}  free {tokens(outcome.headroom)}{by}"
        case NoGain():
            return "nothing to compact"
        case Impossible():
            return "impossible"
        case _:
            return one_line(told(outcome))


def _delta(report: DryRunReport) -> str:
    share = 1 - report.after / report.before if report.before else 0.0
    return f"{_sign(share)}{abs(share):.0%}"


def _sign(less: float) -> str:
    return "−" if less >= 0 else "+"
