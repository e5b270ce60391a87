"""An evaluation on conversations of which all is known, as an HTML page."""

from collections.abc import Iterator, Sequence

from pinfold.evaluation import charts
from pinfold.evaluation.page import COHERENT, MEANING, SMOKE, exam, plural, ungraded
from pinfold.evaluation.report import (
    amount,
    definitions,
    figures,
    page,
    paragraph,
    section,
    share,
    table,
)
from pinfold.evaluation.scores import (
    EXPECTED,
    PROBES,
    Evaluation,
    How,
    Point,
    Scores,
    StrategyResult,
)
from pinfold.evaluation.verdict import comparison
from pinfold.numbers import dollars, duration, tokens

_TITLES: dict[How, str] = {"read": "as the window reads", "asked": "as a model answers"}


def render(found: Evaluation) -> str:
    """The whole page."""
    facts = [
        f"{plural(len(found.conversations), 'conversation')}",
        plural(found.trials, "trial"),
        f"{plural(found.compactions, 'compaction')} each",
        f"{found.budget:,} tokens after each",
        f"the user's own text is {found.user_share:.1f} times that",
        f"model {found.model}, judge {found.judge}" if found.model else "no model was asked",
        f"seed {found.seed}",
        f"{duration(found.seconds)} of work",
    ]
    if found.at is not None:
        facts.append(f"{found.at:%Y-%m-%d %H:%M} UTC")
    if found.interrupted:
        facts.append("interrupted: these are the trials that were over")
    verdict = found.verdict
    if found.comparison is not None:
        told = comparison(found.comparison, found.trials)
        verdict = f"{verdict} {told[:1].upper()}{told[1:]}"
    return page("What each compaction keeps", verdict, facts, _sections(found))


def _sections(found: Evaluation) -> Iterator[str]:
    ran = [each for each in found.results if len(each.points) > 1]
    hows: tuple[How, ...] = ("read", "asked") if found.model else ("read",)
    for how in hows:
        told = [each for each in ran if _scores(each.points[-1], how)]
        smoke = found.smoke and how == "asked"
        title = f"{_TITLES[how]}{' (smoke test)' if smoke else ''}"
        remarks = [SMOKE] if smoke else []
        if how == "asked":
            remarks += [exam(found), *_ungraded(ran)]
        scores = _probes(told, how, found.compactions)
        yield section(f"Scores by probe, {title}", scores, *map(paragraph, remarks))
        if told:
            yield section(
                f"Goal coherence over compactions, {title}",
                paragraph(f"{COHERENT} A thin line is the range over the trials."),
                _coherence(told, how, found.compactions),
            )
    yield section("Tokens, time and cost", _spent(ran))
    if missing := [_not_run(each) for each in found.results if each.not_run]:
        yield section("Not run", *map(paragraph, missing))
    yield section("Conversations", paragraph(", ".join(found.conversations)))
    yield section("What is scored", definitions(PROBES), *map(paragraph, MEANING))


def _ungraded(ran: Sequence[StrategyResult]) -> Iterator[str]:
    for each in ran:
        if each.points[-1].ungraded:
            yield f"{each.strategy}: {ungraded(each)}"


def _probes(ran: Sequence[StrategyResult], how: How, compactions: int) -> str:
    heads = [*PROBES, "all"]
    rows: list[tuple[str, str, list[str]]] = []
    start = next((scores for each in ran if (scores := _scores(each.points[0], how))), None)
    if start is not None:
        rows.append(("before", "start", _cells(start)))
    rows += [
        (_last(each, compactions), each.kind, _cells(scores))
        for each in ran
        if (scores := _scores(each.points[-1], how))
    ]
    return table(_caption(compactions), heads, rows)


def _caption(compactions: int) -> str:
    return (
        f"After compaction {compactions}; ± is the deviation over the trials; "
        "!: over the budget, and not to be compared"
    )


def _cells(scores: Scores) -> list[str]:
    every = [*(scores.probes[probe] for probe in PROBES), scores.overall]
    return [share(each.mean, each.deviation) for each in every]


def _coherence(ran: Sequence[StrategyResult], how: How, compactions: int) -> str:
    drawn: list[tuple[str, str, str]] = []
    for each in ran:
        points = [
            scores.coherence if (scores := _scores(point, how)) else None for point in each.points
        ]
        chart = charts.panel(each.strategy, points, EXPECTED[:compactions])
        drawn.append((_name(each), each.kind, chart))
    return figures(drawn, "panels")


def _spent(ran: Sequence[StrategyResult]) -> str:
    heads = ["tokens", "dry run p50, ms", "p95, ms", "a model works", "it reads", "writes", "cost"]
    most = max((each.points[-1].tokens.mean for each in ran), default=0.0)
    timed = [each.times for each in ran if each.times]
    slowest = max((times.plan_p95 for times in timed), default=0.0)
    longest = max((times.prepare for times in timed), default=0.0)
    rows: list[tuple[str, str, list[str]]] = []
    for each in ran:
        last, times, spent = each.points[-1], each.times, each.spent
        size = last.tokens.mean
        told = f"{'' if last.within else '! '}{size:,.0f}"
        cells = [amount(told, size, most, "" if last.within else "over")]
        if times is None:
            cells += ["–"] * 3
        else:
            cells += [
                amount(f"{times.plan_p50:.0f}", times.plan_p50, slowest),
                amount(f"{times.plan_p95:.0f}", times.plan_p95, slowest),
                amount(duration(times.prepare), times.prepare, longest) if spent else "–",
            ]
        if spent is None:
            cells += ["–"] * 3
        else:
            price = "–" if spent.dollars is None else dollars(spent.dollars)
            cells += [tokens(spent.input), tokens(spent.output), price]
        rows.append((_name(each), each.kind, cells))
    return table(
        "Tokens of the last window; !: over the budget, and not to be compared", heads, rows
    )


def _not_run(result: StrategyResult) -> str:
    last = len(result.points) - 1
    where = f" after {last}" if last > 0 else ""
    return f"{result.strategy}, not run{where}: {result.not_run}"


def _name(result: StrategyResult) -> str:
    return result.strategy if result.kind == "ours" else f"{result.strategy} (baseline)"


def _last(result: StrategyResult, compactions: int) -> str:
    """Its name, and what is to be known of its last window."""
    last = result.points[-1]
    stopped = f", after {last.compactions}" if last.compactions < compactions else ""
    return f"{_name(result)}{stopped}{_mark(last)}"


def _mark(point: Point) -> str:
    return "" if point.within else " !"


def _scores(point: Point, how: How) -> Scores | None:
    return point.read if how == "read" else point.asked
