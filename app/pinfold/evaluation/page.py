"""An evaluation as plain text, at most 80 columns wide."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from pinfold.evaluation.scores import (
    EXPECTED,
    PROBES,
    Evaluation,
    How,
    Point,
    Probe,
    Scores,
    Spent,
    Spread,
    StrategyResult,
)
from pinfold.evaluation.trials import NOT_GRADED
from pinfold.evaluation.verdict import comparison
from pinfold.numbers import dollars, duration

WIDTH = 80
MEANING = (
    (
        "Read: a statement counts as far as its values (ports, names, hashes, dates) stand on one "
        "line of the window, within 200 characters of each other; without what they are about they "
        "count half. Nobody can guess them, and the user's own text is three times the budget, so "
        "keeping it all is no answer. A file counts where its name and its folders stand."
    ),
    (
        "Asked: with --model, the model answers questions in the compacted window, without tools, "
        "and the judge grades each statement with 0, 0.5 or 1; it sees the answer alone, and not "
        "whose window it is about. A window without an answer or grades counts nowhere, and is "
        "told. The two kinds of scores are never mixed."
    ),
)
"""How the two kinds of scores come about."""
SMOKE = "SMOKE TEST: this model is too small for its figures to mean anything."
COHERENT = (
    "Goal coherence: the mean of goal and constraints. As read it says that their words stand in "
    "the window, not that a model keeps to them. The band beside it is what an analysis of Codex "
    "expects of its summaries after 1, 2 and 3 compactions."
)
JSON = (
    "--json prints one object. results[] has, for each strategy:",
    "  strategy, kind (ours, baseline), not_run (why it went no further, or empty)",
    "  points[], before the first compaction and after each:",
    "    read, asked (null where nothing was graded), each with probes.goal ...,",
    "      coherence and overall, as mean, deviation, low, high over the trials",
    "    tokens, within (the budget), windows, ungraded (windows without grades)",
    "  times (ms to plan, s of a model's work), spent (tokens, US dollars)",
    "Beside it: conversations, model, judge, smoke, answering and grading",
    "(what they took), comparison, verdict, seed, version. But for what models say,",
    "the same arguments give the same object, save times, seconds and at.",
    "  jq -r '.results[]|[.strategy,.points[-1].read.overall.mean]|@tsv'",
)
_HEADS: dict[Probe, str] = {
    "goal": "goal",
    "constraints": "const",
    "decisions": "decis",
    "facts": "facts",
    "stale": "stale",
    "next": "next",
    "files": "files",
}
_BAR = 40
"""Columns of a bar from 0 to 1."""
_EIGHTHS = " ▏▎▍▌▋▊▉"


def page(found: Evaluation) -> Iterator[str]:
    """The lines."""
    yield from _head(found)
    ran = [each for each in found.results if len(each.points) > 1]
    hows: tuple[How, ...] = ("read", "asked") if found.model else ("read",)
    for how in hows:
        yield ""
        yield from _table(found, ran, how)
        if how == "asked":
            yield from wrap(exam(found), WIDTH)
    yield from _not_run(found)
    for how in hows:
        yield ""
        yield from _chart(found, ran, how)
    yield ""
    yield from wrap(found.verdict, WIDTH)
    if found.comparison is not None:
        told = comparison(found.comparison, found.trials)
        yield from wrap(told[:1].upper() + told[1:], WIDTH)


def explained() -> Iterator[str]:
    """What the scores mean."""
    yield "Every score is in [0, 1]; higher is better."
    for probe, text in PROBES.items():
        yield from _wrapped(f"{_HEADS[probe]:<7}{text}", " " * 7)
    yield from _wrapped("all    The mean of these seven.", " " * 7)
    yield ""
    for text in MEANING:
        yield from wrap(text, WIDTH)
    yield from wrap(COHERENT, WIDTH)
    yield from wrap(
        "±: the standard deviation over the trials. `!`: a window over the budget, which is not to "
        "be compared. plan: milliseconds of a dry run, p50/p95.",
        WIDTH,
    )
    yield ""
    yield from JSON


def _head(found: Evaluation) -> Iterator[str]:
    yield from wrap(
        f"{plural(len(found.conversations), 'conversation')}, "
        f"{plural(found.trials, 'trial')}, "
        f"{plural(found.compactions, 'compaction')} each, to {found.budget:,} tokens; "
        f"the user's own text is {found.user_share:.1f} times that. Seed {found.seed}.",
        WIDTH,
    )
    if found.interrupted:
        yield "Interrupted: these are the trials that were over."
    if not found.model:
        yield "No model was asked: probes read the window as a request would carry it."
        return
    yield from wrap(f"Model {found.model}, judge {found.judge}.", WIDTH)
    if found.smoke:
        yield SMOKE


def _table(found: Evaluation, ran: Sequence[StrategyResult], how: How) -> Iterator[str]:
    title = "As read" if how == "read" else "As asked"
    smoke = " (smoke test)" if found.smoke and how == "asked" else ""
    yield f"{title}{smoke}, after compaction {found.compactions}:"
    heads = "".join(f"{_HEADS[probe]:>6}" for probe in PROBES)
    yield f"{'':<13}{heads}{'all':>6}{'tokens':>9}{'plan ms':>9}"
    start = next((each.points[0] for each in ran if _scores(each.points[0], how)), None)
    if start is not None:
        yield f"{'before':<13}{_row(_means(start, how))}{start.tokens.mean:>8,.0f}"
    for each in ran:
        last = each.points[-1]
        stopped = f" at {last.compactions}" if last.compactions < found.compactions else ""
        name = f"{each.strategy}{stopped}"[:12]
        if _scores(last, how) is None:
            yield from _wrapped(f"{name:<13}{ungraded(each)}", " " * 13)
            continue
        mark = " " if last.within else "!"
        times = f"{each.times.plan_p50:.0f}/{each.times.plan_p95:.0f}" if each.times else ""
        yield (f"{name:<13}{_row(_means(last, how))}{last.tokens.mean:>8,.0f}{mark}{times:>9}")
        if found.trials > 1:
            yield f"{'    ±':<13}{_row(_deviations(last, how))}"
        if how == "asked" and last.ungraded:
            yield from _wrapped(f"    {ungraded(each)}", " " * 4)
        if how == "read" and each.spent is not None and each.times is not None:
            yield (
                f"    the model: {duration(each.times.prepare)} a compaction, {_used(each.spent)}"
            )
    if how == "read" and not all(each.points[-1].within for each in ran):
        yield "! over the budget: not to be compared with the others"


def ungraded(result: StrategyResult) -> str:
    """Of its last windows, how many have no grades, and why."""
    last = result.points[-1]
    why = (note.removeprefix(f"{NOT_GRADED}: ") for note in result.notes if NOT_GRADED in note)
    return f"{last.ungraded} of {plural(last.windows, 'window')} {NOT_GRADED}: {'; '.join(why)}"


def exam(found: Evaluation) -> str:
    """What asking and grading took, beside the work of the compactions."""
    if found.answering is None or found.grading is None:
        return ""
    return f"Answering took {_used(found.answering)}; grading, {_used(found.grading)}."


def _used(spent: Spent) -> str:
    cost = "" if spent.dollars is None else f", {dollars(spent.dollars)}"
    return f"{spent.input:,} tokens in, {spent.output:,} out{cost}"


def _not_run(found: Evaluation) -> Iterator[str]:
    """Who did not run, or not to the end, and why."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for each in found.results:
        if each.not_run:
            stopped = len(each.points) - 1
            where = f" after {plural(stopped, 'compaction')}" if stopped > 0 else ""
            reasons.setdefault((where, each.not_run), []).append(each.strategy)
    for (where, why), names in reasons.items():
        yield from _wrapped(f"Not run{where}: {', '.join(names)} ({why.removesuffix('.')})", "  ")


def _row(figures: Sequence[float]) -> str:
    return "".join(f"{figure:>6.2f}" for figure in figures)


def _means(point: Point, how: How) -> list[float]:
    return [each.mean for each in _every(point, how)]


def _deviations(point: Point, how: How) -> list[float]:
    return [each.deviation for each in _every(point, how)]


def _every(point: Point, how: How) -> list[Spread]:
    told = _scores(point, how)
    return [*told.probes.values(), told.overall] if told else []


def _scores(point: Point, how: How) -> Scores | None:
    return point.read if how == "read" else point.asked


def _chart(found: Evaluation, ran: Sequence[StrategyResult], how: How) -> Iterator[str]:
    told = "as read" if how == "read" else "as asked"
    told += " (smoke test)" if found.smoke and how == "asked" else ""
    yield f"Goal coherence (the mean of goal and constraints), {told}"
    for at in range(found.compactions + 1):
        where = f"after {at}" if at else "before"
        yield f"{where:<14}0{'0.5':^{_BAR - 2}}1"
        rows = [(each, _scores(each.points[at], how)) for each in ran if at < len(each.points)]
        for each, scores in rows[:1] if at == 0 else rows:
            if scores is not None:
                name = each.strategy[:11] if at else "all"
                yield f"  {name:<12}{_bar(scores.coherence.mean)} {scores.coherence.mean:.2f}"
        if 0 < at <= len(EXPECTED):
            low, high = EXPECTED[at - 1]
            yield f"  {'expected':<12}{_band(low, high)} {low:.2f}-{high:.2f}"


def _bar(share: float) -> str:
    whole, eighths = divmod(round(share * _BAR * 8), 8)
    return ("█" * whole + _EIGHTHS[eighths].strip()).ljust(_BAR)


def _band(low: float, high: float) -> str:
    start, end = round(low * _BAR), round(high * _BAR)
    return (" " * start + "░" * (end - start)).ljust(_BAR)


def plural(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _wrapped(text: str, indent: str) -> list[str]:
    return wrap(text, WIDTH, subsequent_indent=indent)
