"""What strategies keep of recorded sessions, as an HTML page."""

from collections.abc import Iterator, Sequence

from pinfold.evaluation import charts
from pinfold.evaluation.recorded_page import CUTS, OVER, cuts, sessions
from pinfold.evaluation.recorded_scores import MEASURES, NAMES, Recorded, Row, SessionResult
from pinfold.evaluation.report import (
    amount,
    definitions,
    figures,
    page,
    paragraph,
    section,
    share,
    table,
    text,
)
from pinfold.numbers import duration, tokens

_HEADS = (*NAMES.values(), "tokens", "plan, ms")


def render(found: Recorded) -> str:
    """The whole page."""
    every = sum(len(session.cuts) for session in found.sessions)
    facts = [
        sessions(len(found.sessions)),
        cuts(every),
        f"{found.budget:,} tokens after each",
        "no model was asked",
        f"{duration(found.seconds)} of work",
    ]
    title = "What compaction keeps of recorded sessions"
    return page(title, found.verdict, facts, _sections(found))


def _sections(found: Recorded) -> Iterator[str]:
    over = f"!: {OVER.format(found.budget)}"
    yield section(
        "All sessions",
        _table(
            f"The mean over all cuts, in windows of {found.budget:,} tokens",
            found.rows,
            found.budget,
        ),
        paragraph(over) if any(row.tokens > found.budget for row in found.rows) else "",
    )
    if found.real:
        yield section(
            "Where the recording tools compacted",
            _table(f"The mean over these {cuts(found.real[0].all)}", found.real, found.budget),
        )
    strips = [
        (_name(row), row.origin, charts.strip(row.strategy, shares, row.kept["need"]))
        for row in [*found.rows, *(row for row in found.real if row.origin == "recording")]
        if (shares := _needs(found, row.strategy))
    ]
    if strips:
        yield section(
            "Future need at each cut",
            paragraph(
                "A dot is a cut, from 0 at the left to 1 at the right; the stroke, the mean."
            ),
            figures(strips, "strips"),
        )
    small = sum(not session.cuts for session in found.sessions)
    yield section(
        "Session by session",
        *(_session(session, found.budget) for session in found.sessions if session.cuts),
        paragraph(f"{sessions(small)} with nothing to compact: they fit already.") if small else "",
    )
    if found.unread:
        yield section("Not read", *map(paragraph, found.unread))
    yield section(
        "What is measured",
        definitions({NAMES[measure]: what for measure, what in MEASURES.items()}),
        paragraph(CUTS),
    )


def _needs(found: Recorded, strategy: str) -> list[float]:
    return [
        made.kept["need"]
        for session in found.sessions
        for cut in session.cuts
        for made in cut.made
        if made.strategy == strategy and "need" in made.kept
    ]


def _session(session: SessionResult, budget: int) -> str:
    head = f"{session.name}: {session.tool}, {session.items:,} items, {cuts(len(session.cuts))}"
    at = "; ".join(
        f"{'compaction' if cut.real else 'simulated cut'} after #{cut.item}, "
        f"{tokens(cut.tokens)} tokens"
        for cut in session.cuts
    )
    return f"<details><summary>{text(head)}</summary>{_table(at, session.rows, budget)}</details>"


def _table(caption: str, rows: Sequence[Row], budget: int) -> str:
    most = max((row.tokens for row in rows), default=0)
    slowest = max((row.milliseconds for row in rows), default=0.0)
    return table(
        caption,
        _HEADS,
        ((_name(row), row.origin, _cells(row, most, slowest, budget)) for row in rows),
    )


def _name(row: Row) -> str:
    return f"{row.strategy} (baseline)" if row.origin == "baseline" else row.strategy


def _cells(row: Row, most: int, slowest: float, budget: int) -> list[str]:
    if not row.cuts:
        return ["not run", *[""] * (len(_HEADS) - 1)]
    large = row.tokens > budget
    told = amount(
        f"{'! ' if large else ''}{row.tokens:,}", row.tokens, most, "over" if large else ""
    )
    time = f"{row.milliseconds:.0f}" if row.origin != "recording" else "–"
    return [
        *(share(row.kept.get(measure)) for measure in MEASURES),
        told,
        amount(time, row.milliseconds, slowest),
    ]
