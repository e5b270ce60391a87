"""What an evaluation on recorded sessions reports."""

from collections.abc import Iterator, Sequence
from statistics import quantiles

from pinfold.evaluation.recorded_scores import (
    MEASURES,
    NAMES,
    Recorded,
    SessionResult,
    StrategyScore,
)
from pinfold.evaluation.report import (
    Cell,
    EvalReport,
    ReportSection,
    ReportTable,
    ScoreRow,
    amount,
    score,
)
from pinfold.numbers import duration, plural, tokens

CUTS = (
    "A session is cut before each of its compactions (at most eight) and once at 60% of its "
    "items; what fits the budget there is not compacted. All cuts weigh the same. Nothing "
    "leaves this machine, and no model is called."
)
MEASURED = ReportSection(
    "What is measured, each in [0, 1]; higher is better",
    (
        tuple((NAMES[measure], text) for measure, text in MEASURES.items()),
        CUTS,
    ),
)


def report(found: Recorded) -> EvalReport:
    cut = [session for session in found.sessions if session.cuts]
    facts = (
        plural(len(found.sessions), "session"),
        plural(sum(len(session.cuts) for session in cut), "cut"),
        f"{found.budget:,} tokens after each",
        "no model was called",
        f"{duration(found.seconds)} of work",
    )
    unread = [ReportSection("Not read", found.unread)] if found.unread else []
    return EvalReport(
        "What compaction keeps of recorded sessions",
        found.verdict,
        facts,
        tuple(_sections(found, cut)),
        details=[_session(session, found.budget) for session in cut],
        background=(*unread, MEASURED),
    )


def _sections(found: Recorded, cut: Sequence[SessionResult]) -> Iterator[ReportSection]:
    cuts = sum(len(session.cuts) for session in cut)
    remarks: list[str] = []
    if any(row.tokens > found.budget for row in found.rows):
        remarks.append(
            f"!: on average its windows are larger than {found.budget:,} tokens, so it can't be "
            "compared."
        )
    if small := len(found.sessions) - len(cut):
        remarks.append(f"{plural(small, 'session')} with nothing to compact: already small enough.")
    caption = f"The mean over all cuts, in windows of {found.budget:,} tokens"
    yield ReportSection(
        f"All {plural(len(cut), 'session')}, {plural(cuts, 'cut')}",
        (_table(caption, found.rows, found.budget), *remarks),
    )
    if found.real:
        real = _table("", found.real, found.budget)
        title = f"Where the original tools compacted, {plural(found.real[0].all, 'cut')}"
        yield ReportSection(title, (real,))
    own = [row for row in found.real if row.origin == "recording"]
    spreads = [
        ScoreRow(row.strategy, row.origin, _quarters(needs))
        for row in [*found.rows, *own]
        if (needs := _needs(cut, row.strategy))
    ]
    if spreads:
        heads = ("lowest", "quarter", "median", "three quarters", "highest")
        yield ReportSection("Future need, by cut", (ReportTable("", heads, spreads),))


def _needs(sessions: Sequence[SessionResult], strategy: str) -> list[float]:
    return [
        made.kept["need"]
        for session in sessions
        for cut in session.cuts
        for made in cut.made
        if made.strategy == strategy and "need" in made.kept
    ]


def _quarters(shares: Sequence[float]) -> list[Cell]:
    inner = quantiles(shares, method="inclusive") if len(shares) > 1 else [*shares] * 3
    return [score(share) for share in (min(shares), *inner, max(shares))]


def _session(session: SessionResult, budget: int) -> ReportSection:
    cuts = "; ".join(
        f"{'compaction' if cut.real else 'simulated cut'} after #{cut.item}, "
        f"{tokens(cut.tokens)} tokens"
        for cut in session.cuts
    )
    facts = f"{session.tool}, {session.items:,} items, {plural(len(session.cuts), 'cut')}"
    return ReportSection(f"{session.name} ({facts})", (_table(cuts, session.rows, budget),))


def _table(caption: str, kept: Sequence[StrategyScore], budget: int) -> ReportTable:
    rows = [ScoreRow(row.strategy, row.origin, _cells(row, kept, budget)) for row in kept]
    return ReportTable(caption, (*NAMES.values(), "tokens", "plan, ms"), rows)


def _cells(row: StrategyScore, beside: Sequence[StrategyScore], budget: int) -> list[Cell]:
    if not row.cuts:
        return ["not run", *[""] * (len(MEASURES) + 1)]
    sizes = (other.tokens for other in beside)
    times = (other.milliseconds for other in beside)
    time: Cell = "–"
    if row.origin != "recording":
        time = amount(f"{row.milliseconds:.0f}", row.milliseconds, times)
    return [
        *(score(row.kept.get(measure)) for measure in MEASURES),
        amount(f"{row.tokens:,}", row.tokens, sizes, over=row.tokens > budget),
        time,
    ]
