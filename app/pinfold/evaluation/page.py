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
    Spread,
    StrategyResult,
)
from pinfold.evaluation.trials import NOT_ASKED
from pinfold.evaluation.verdict import comparison
from pinfold.numbers import dollars, duration

WIDTH = 80
MEANING = (
    (
        "Read: a statement counts as far as one line of the window has its values (ports, names, "
        "hashes, dates); values without what they are about count half. Nobody can guess them, and "
        "the user's own text is three times the budget, so keeping it all is no answer. A file "
        "counts where its name and its folders stand."
    ),
    (
        "Asked: with --model, the model answers questions in the compacted window, and the judge "
        "grades each statement with 0, 0.5 or 1."
    ),
)
"""How the two kinds of scores come about."""
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
    yield from wrap(
        "Goal coherence: the mean of goal and constraints. The band beside it is what an analysis "
        "of Codex expects of its compactions.",
        WIDTH,
    )
    yield from wrap(
        "±: the standard deviation over the trials. `!`: a window over the budget, which is not to "
        "be compared. plan: milliseconds of a dry run, p50/p95.",
        WIDTH,
    )


def _head(found: Evaluation) -> Iterator[str]:
    yield from wrap(
        f"{_plural(len(found.conversations), 'conversation')}, {_plural(found.trials, 'trial')}, "
        f"{_plural(found.compactions, 'compaction')} each, to {found.budget:,} tokens; "
        f"the user's own text is {found.user_share:.1f} times that. Seed {found.seed}.",
        WIDTH,
    )
    if not found.model:
        yield "No model was asked: probes read the window as a request would carry it."
        return
    yield f"Model {found.model}, judge {found.judge}."
    if found.smoke:
        yield "SMOKE TEST: this model is too small for its figures to mean anything."


def _table(found: Evaluation, ran: Sequence[StrategyResult], how: How) -> Iterator[str]:
    title = "As read" if how == "read" else "As asked"
    yield f"{title}, after compaction {found.compactions}:"
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
            why = "; ".join(note for note in each.notes if note.startswith(NOT_ASKED))
            yield from _wrapped(f"{name:<13}{why}", " " * 13)
            continue
        mark = " " if last.within else "!"
        times = f"{each.times.plan_p50:.0f}/{each.times.plan_p95:.0f}" if each.times else ""
        yield (f"{name:<13}{_row(_means(last, how))}{last.tokens.mean:>8,.0f}{mark}{times:>9}")
        if found.trials > 1:
            yield f"{'    ±':<13}{_row(_deviations(last, how))}"
        if how == "read" and each.spent is not None and each.times is not None:
            cost = "" if each.spent.dollars is None else f", {dollars(each.spent.dollars)}"
            yield (
                f"    the model: {duration(each.times.prepare)} a compaction, "
                f"{each.spent.input:,} tokens in, {each.spent.output:,} out{cost}"
            )
    if how == "read" and not all(each.points[-1].within for each in ran):
        yield "! over the budget: not to be compared with the others"


def _not_run(found: Evaluation) -> Iterator[str]:
    """Who did not run, or not to the end, and why."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for each in found.results:
        if each.not_run:
            stopped = len(each.points) - 1
            where = f" after {_plural(stopped, 'compaction')}" if stopped > 0 else ""
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
    yield f"Goal coherence, {told}, after each compaction"
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


def _plural(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _wrapped(text: str, indent: str) -> list[str]:
    return wrap(text, WIDTH, subsequent_indent=indent)
