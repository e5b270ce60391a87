"""The head of the preview: what the window comes to, and what the other strategies would do."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.style import Style
from rich.text import Text
from textual.app import App

from pinfold.commands.failures import told
from pinfold.compaction.refusals import Impossible, NoGain
from pinfold.compaction.report import Report
from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.tui.colours import ink

Outcome = Report | Exception
"""What a strategy would do, or why it can't."""
_BOLD = Style(bold=True)
STAYS, GOES, FREE, RESERVE = "━", "┅", "─", "╌"


def totals(app: App[Any], report: Report) -> Text:
    """`42.1k → 11.3k  −73%  headroom 2,048 · …`."""
    text = Text().append(f"{tokens(report.before)} → {tokens(report.after)}  ", _BOLD)
    text.append(_delta(report), ink(app, "success") + _BOLD)
    facts = [
        f"headroom {report.headroom:,}",
        f"reserve {tokens(report.reserve)}",
        f"prompt cache loses {tokens(report.uncached)}",
    ]
    return text.append("  " + " · ".join(facts), ink(app, "foreground 60%"))


def counts(app: App[Any], report: Report) -> Text:
    """How many items stay and go."""
    pinned = f" ({report.pinned:,} pinned)" if report.pinned else ""
    said = [
        f"kept {report.kept:,}{pinned}",
        *([f"masked {report.masked:,}"] if report.masked else []),
        f"archived {report.archived:,}",
        f"inserted {len(report.inserted):,}",
    ]
    return Text(" · ".join(said), ink(app, "foreground 60%"))


def bar(app: App[Any], report: Report, width: int) -> Text:
    """The model's window: what stays, what goes, what is free, what the reply may take."""
    limit = max(report.limit, report.before, 1)
    ends = [
        round(width * part / limit)
        for part in (report.after, report.before, max(limit - report.reserve, report.before), limit)
    ]
    text, at = Text(), 0
    looks = (
        (STAYS, "success"),
        (GOES, "error"),
        (FREE, "gauge-free"),
        (RESERVE, "gauge-reserve"),
    )
    for end, (sign, name) in zip(ends, looks, strict=True):
        text.append(sign * max(0, end - at), ink(app, name))
        at = max(at, end)
    return text


def strategies(
    app: App[Any], names: Sequence[str], chosen: str, outcomes: Mapping[str, Outcome]
) -> Text:
    """A line for each strategy, the chosen one marked."""
    dim, strong = ink(app, "foreground 60%"), ink(app, "foreground")
    width = max((len(name) for name in names), default=0)
    lines = []
    for at, name in enumerate(names, 1):
        marked = name == chosen
        line = Text().append("▸ " if marked else "  ", ink(app, "accent") + _BOLD)
        line.append(f"{at if at < 10 else ' '} ", dim)
        line.append(one_line(name).ljust(width), strong + _BOLD if marked else dim)
        line.append("  ").append(_figures(outcomes.get(name), name), strong if marked else dim)
        lines.append(line)
    return Text("\n").join(lines)


def _figures(outcome: Outcome | None, name: str) -> str:
    match outcome:
        case None:
            return "…"
        case Report():
            by = f"  by {one_line(outcome.strategy)}" if outcome.strategy != name else ""
            size = f"{tokens(outcome.before)} → {tokens(outcome.after)}"
            return f"{size:<15}  {_delta(outcome):>4}  headroom {tokens(outcome.headroom)}{by}"
        case NoGain():
            return "nothing to gain"
        case Impossible():
            return "impossible"
        case _:
            return one_line(told(outcome))


def _delta(report: Report) -> str:
    share = 1 - report.after / report.before if report.before else 0.0
    return f"{'−' if share >= 0 else '+'}{abs(share):.0%}"
