"""What an evaluation on made-up conversations reports."""

from collections.abc import Iterator, Sequence

from pinfold.evaluation.report import (
    Cell,
    EvalReport,
    ReportSection,
    ReportTable,
    ScoreRow,
    amount,
    score,
)
from pinfold.evaluation.scores import (
    EXPECTED,
    PROBES,
    Evaluation,
    How,
    Point,
    Scores,
    Spent,
    StrategyResult,
)
from pinfold.evaluation.trials import NOT_GRADED
from pinfold.evaluation.verdict import comparison
from pinfold.numbers import dollars, duration, plural, tokens

_TITLES: dict[How, str] = {"read": "by window text", "asked": "by model answers"}
SMOKE = "SMOKE TEST: this model is too small for its scores to mean anything."
READ = (
    "A statement scores by how many of its values (ports, names, hashes, dates) are on one "
    "line of the window, within 200 characters of each other; without their subject they count "
    "half. They can't be guessed, and the user's own text is three times the budget, so keeping "
    "all of it is no solution. A file counts if its name and its folders are there."
)
ASKED = (
    "With --model, the model answers questions in the compacted window, without tools, and the "
    "judge grades each statement with 0, 0.5 or 1; it sees only the answer, not which strategy it "
    "is about. A window without an answer or grades is not counted, and is reported. The two "
    "kinds of scores are never mixed."
)
COHERENT = (
    "The mean of goal and constraints. By the window's text, it says that their words are in the "
    "window, not that a model follows them. The row `expected` is what an analysis of Codex "
    "expects of its "
    "summaries."
)
SCORED = ReportSection(
    "What is scored, each in [0, 1]; higher is better",
    (
        (
            *PROBES.items(),
            ("all", "The mean of these seven."),
            ("read", READ),
            ("asked", ASKED),
            ("coherence", COHERENT),
            ("dry run", "Milliseconds: the median, and the 95th percentile."),
            ("±", "The standard deviation over the trials."),
            ("!", "A window over the budget, which can't be compared."),
        ),
    ),
)
JSON = """
--json prints one object. results[] has, for each strategy:
  strategy, kind (ours, baseline), not_run (why it went no further, or empty)
  points[], before the first compaction and after each:
    read, asked (null where nothing was graded), each with probes.goal ...,
      coherence and overall, as mean, deviation, low, high over the trials
    tokens, within (the budget), windows, ungraded (windows without grades)
  times (ms to plan, s of a model's work), spent (tokens, US dollars)
Beside it: conversations, model, judge, smoke, answering and grading
(what they took), comparison, verdict, seed, version. Apart from what models say,
the same arguments give the same object, save times, seconds and at.
  jq -r '.results[]|[.strategy,.points[-1].read.overall.mean]|@tsv'"""


def report(found: Evaluation) -> EvalReport:
    facts = [
        plural(len(found.conversations), "conversation"),
        plural(found.trials, "trial"),
        f"{plural(found.compactions, 'compaction')} each",
        f"{found.budget:,} tokens after each",
        f"the user's own text is {found.user_share:.1f} times that",
        f"model {found.model}, judge {found.judge}" if found.model else "no model was called",
        f"seed {found.seed}",
    ]
    if found.at is not None:
        facts += [f"{duration(found.seconds)} of work", f"{found.at:%Y-%m-%d %H:%M} UTC"]
    if found.interrupted:
        facts.append("interrupted: these are the trials that were finished")
    verdict = found.verdict
    if found.comparison is not None:
        compared = comparison(found.comparison, found.trials)
        verdict = f"{verdict} {compared[:1].upper()}{compared[1:]}"
    return EvalReport(
        "What each compaction keeps",
        verdict,
        facts,
        tuple(_sections(found)),
        background=(ReportSection("Conversations", (", ".join(found.conversations),)), SCORED),
    )


def _sections(found: Evaluation) -> Iterator[ReportSection]:
    ran = [result for result in found.results if len(result.points) > 1]
    hows: tuple[How, ...] = ("read", "asked") if found.model else ("read",)
    for how in hows:
        remarks = list(_remarks(found, ran)) if how == "asked" else []
        title = f"{_TITLES[how]}{' (smoke test)' if found.smoke and how == 'asked' else ''}"
        scored = [result for result in ran if _scores(result.points[-1], how)]
        probes = _probes(scored, how, found.compactions)
        yield ReportSection(f"Scores by probe, {title}", (probes, *remarks))
        if scored:
            coherence = _coherence(scored, how, found.compactions)
            yield ReportSection(f"Goal coherence, {title}", (coherence,))
    yield ReportSection("Tokens, time and cost", (_spent(ran),))
    if missing := _not_run(found):
        yield ReportSection("Not run", missing)


def _remarks(found: Evaluation, ran: Sequence[StrategyResult]) -> Iterator[str]:
    if found.smoke:
        yield SMOKE
    for result in ran:
        if (last := result.points[-1]).ungraded:
            notes = (note for note in result.notes if NOT_GRADED in note)
            why = "; ".join(note.removeprefix(f"{NOT_GRADED}: ") for note in notes)
            windows = plural(last.windows, "window")
            yield f"{result.strategy}: {last.ungraded} of {windows} {NOT_GRADED}: {why}"
    if found.answering is not None and found.grading is not None:
        yield f"Answering took {_used(found.answering)}; grading, {_used(found.grading)}."


def _used(spent: Spent) -> str:
    cost = "" if spent.dollars is None else f", {dollars(spent.dollars)}"
    return f"{spent.input:,} tokens in, {spent.output:,} out{cost}"


def _probes(ran: Sequence[StrategyResult], how: How, compactions: int) -> ReportTable:
    rows: list[ScoreRow] = []
    if ran and (start := _scores(ran[0].points[0], how)):
        rows.append(ScoreRow("before", "", _cells(start)))
    for result in ran:
        last = result.points[-1]
        if scores := _scores(last, how):
            stopped = f" at {last.compactions}" if last.compactions < compactions else ""
            mark = "" if last.within else " !"
            rows.append(ScoreRow(f"{result.strategy}{stopped}{mark}", result.kind, _cells(scores)))
    over = any(not result.points[-1].within for result in ran)
    mark = "; !: over the budget, so not comparable" if over else ""
    return ReportTable(f"After compaction {compactions}{mark}", (*PROBES, "all"), rows)


def _cells(scores: Scores) -> list[Cell]:
    return [*(score(scores.probes[probe]) for probe in PROBES), score(scores.overall)]


def _coherence(ran: Sequence[StrategyResult], how: How, compactions: int) -> ReportTable:
    bands = [f"{low:.2f}–{high:.2f}" for low, high in EXPECTED[:compactions]]
    missing = compactions - len(bands)
    rows = [ScoreRow("expected", "", ["", *bands, *[""] * missing])]
    for result in ran:
        known = [_scores(point, how) for point in result.points]
        cells = [score(scores.coherence if scores else None) for scores in known]
        cells += [""] * (compactions + 1 - len(cells))
        rows.append(ScoreRow(result.strategy, result.kind, cells))
    heads = ("before", *(f"after {at}" for at in range(1, compactions + 1)))
    return ReportTable("The mean of goal and constraints", heads, rows)


def _spent(ran: Sequence[StrategyResult]) -> ReportTable:
    sizes = [result.points[-1].tokens.mean for result in ran]
    times = [result.times for result in ran if result.times]
    slowest = [time.plan_p95 for time in times]
    rows: list[ScoreRow] = []
    for result, size in zip(ran, sizes, strict=True):
        cells: list[Cell] = [
            amount(f"{size:,.0f}", size, sizes, over=not result.points[-1].within),
            *["–"] * 6,
        ]
        if (took := result.times) is not None:
            cells[1] = amount(f"{took.plan_p50:.0f}", took.plan_p50, slowest)
            cells[2] = amount(f"{took.plan_p95:.0f}", took.plan_p95, slowest)
            if result.spent:
                longest = (time.prepare for time in times)
                cells[3] = amount(duration(took.prepare), took.prepare, longest)
        if (spent := result.spent) is not None:
            cells[4:6] = tokens(spent.input), tokens(spent.output)
            if spent.dollars is not None:
                cells[6] = dollars(spent.dollars)
        rows.append(ScoreRow(result.strategy, result.kind, cells))
    heads = ("tokens", "dry run, ms", "p95, ms", "model time", "tokens in", "tokens out", "cost")
    caption = (
        "Tokens of the last window; a model's time for one compaction, its tokens and cost for all"
    )
    return ReportTable(caption, heads, rows)


def _not_run(found: Evaluation) -> list[str]:
    """Strategies that did not run, or not to the end, by reason."""
    reasons: dict[tuple[int, str], list[str]] = {}
    for result in found.results:
        if result.not_run:
            stopped = max(0, len(result.points) - 1)
            reasons.setdefault((stopped, result.not_run), []).append(result.strategy)
    after = {0: "", **{at: f" after {plural(at, 'compaction')}" for at, _ in reasons if at}}
    return [
        f"{', '.join(names)}{after[stopped]}: {why}" for (stopped, why), names in reasons.items()
    ]


def _scores(point: Point, how: How) -> Scores | None:
    return point.read if how == "read" else point.asked
