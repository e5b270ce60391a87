"""The sentence on two strategies, which says no more than its spread bears out."""

from statistics import fmean

import pytest
from msgspec.structs import replace

from pinfold.evaluation.results import compared
from pinfold.evaluation.scores import (
    PROBES,
    Comparison,
    Evaluation,
    Kind,
    Point,
    StrategyResult,
    scores,
    spread,
)
from pinfold.evaluation.trials import Graded
from pinfold.evaluation.verdict import comparison, verdict


@pytest.mark.parametrize(
    ("differences", "said"),
    [
        (
            [0.2, 0.3, 0.4],
            "handoff is ahead of bare-handoff in goal coherence after 3 compactions",
        ),
        ([-0.2, -0.3], "handoff is behind bare-handoff"),
        ([-0.1, 0.0, 0.3], "handoff and bare-handoff can't be told apart"),
        ([0.2, 0.3, 0.4], "+0.30 ± 0.10 (+0.20 to +0.40 in 3 trials)."),
        ([0.5], "+0.50 ± 0.00 (+0.50 to +0.50 in 1 trial)."),
    ],
)
def test_one_is_ahead_only_where_it_is_in_every_trial(differences: list[float], said: str) -> None:
    told = Comparison("handoff", "bare-handoff", 3, "asked", spread(differences))
    assert said in comparison(told, len(differences))


KEPT, HALF, POOR, LOST = (dict.fromkeys(PROBES, value) for value in (1.0, 0.5, 0.25, 0.0))


def result(
    name: str,
    read: list[Graded],
    *,
    kind: Kind = "ours",
    within: bool = True,
) -> StrategyResult:
    """After one compaction, from all known; by trial."""
    start = Point(0, scores([KEPT]), None, spread([3_000.0]), within=False)
    last = Point(1, scores(read), None, spread([900.0]), within=within)
    means = tuple(fmean(entry.values()) for entry in read)
    return StrategyResult(name, kind, (start, last), last_trials={"read": means})


def said(*results: StrategyResult) -> str:
    return verdict(Evaluation(1, 2, 1, 1_000, 3.1, (), "", "", False, results, None, ""))


def test_one_that_is_ahead_in_every_trial_keeps_the_most_and_its_spread_is_told() -> None:
    told = said(result("handoff", [KEPT, HALF]), result("tail", [HALF, LOST], kind="baseline"))
    assert "handoff keeps the most: 75% ± 35.4% of what" in told
    assert "Pin or repeat: " in told


def test_none_is_crowned_on_a_tie() -> None:
    told = said(*(result(name, [KEPT, HALF]) for name in ("checkpoint", "layered")))
    assert "checkpoint and layered keep the same, and the most: 75% ± 35.4% of what" in told


def test_one_that_is_ahead_in_some_trials_alone_is_not_crowned() -> None:
    told = said(
        result("handoff", [KEPT, KEPT, POOR]),
        result("bare-handoff", [HALF, HALF, HALF]),
        result("tail", [LOST, LOST, LOST]),
    )
    assert (
        "handoff and bare-handoff keep the most and can't be told apart: 75% ± 43.3% and 50%"
        in told
    )
    assert "Trust them with" not in told


def test_one_that_is_over_the_budget_is_not_crowned() -> None:
    told = said(result("prune", [KEPT, KEPT], within=False), result("tail", [LOST, HALF]))
    assert "tail keeps the most: 25%" in told
    assert "prune" not in told
    assert said(result("prune", [KEPT], within=False)).startswith("No strategy stayed within")


def test_what_a_smoke_test_said_counts_for_nothing() -> None:
    kept, lost = (dict.fromkeys(PROBES, value) for value in (1.0, 0.0))
    window = spread([900.0])
    start = Point(0, scores([kept]), scores([kept]), window, within=True)
    points = (start, Point(1, scores([lost]), scores([kept]), window, within=True))
    results = tuple(
        StrategyResult(
            name,
            "ours",
            points,
            trials=((1.0, at),),
            asked_trials=((1.0, 1.0),),
            last_trials={"read": (0.0,), "asked": (1.0,)},
        )
        for name, at in (("handoff", 0.5), ("bare-handoff", 0.25))
    )
    told = {even_asked: compared(results, even_asked=even_asked) for even_asked in (True, False)}
    assert [(outcome.how, outcome.difference.mean) for outcome in told.values() if outcome] == [
        ("asked", 0.0),
        ("read", 0.25),
    ]
    found = Evaluation(1, 1, 1, 1_000, 3.1, (), "small", "small", True, results, None, "")
    assert "the most: 0% ± 0.0% of" in verdict(found)
    assert "smoke test" in verdict(found)
    assert "the most: 100% ± 0.0% of" in verdict(replace(found, smoke=False))


def answered(read: Graded, graded: Graded | None) -> Point:
    point = Point(1, scores([read]), None, spread([900.0]), within=True, windows=1)
    if graded is None:
        return replace(point, ungraded=1)
    return replace(point, asked=scores([graded]))


def asked(name: str, read: Graded, graded: Graded | None) -> StrategyResult:
    start = Point(0, scores([KEPT]), scores([KEPT]), spread([3_000.0]), within=False, windows=1)
    row = (1.0, None if graded is None else fmean(graded.values()))
    return StrategyResult(
        name,
        "ours",
        (start, answered(read, graded)),
        trials=((1.0, fmean(read.values())),),
        asked_trials=(row,),
        last_trials={"read": (fmean(read.values()),), "asked": row[1:]},
    )


def test_grades_are_never_held_against_what_was_read() -> None:
    """Where one has no grades, all are judged by what stands in their windows."""
    results = (asked("handoff", HALF, KEPT), asked("bare-handoff", POOR, None))
    found = Evaluation(1, 1, 1, 1_000, 3.1, (), "m", "j", False, results, None, "")
    told = verdict(found)
    assert "handoff keeps the most: 50% ± 0.0% of what a window should still say" in told
    assert "by the windows' text: not all answers" in told
    between = compared(results, even_asked=True)
    assert between is not None
    assert (between.how, between.difference.mean) == ("read", 0.25)
    whole = (asked("handoff", HALF, KEPT), asked("bare-handoff", POOR, LOST))
    told = verdict(replace(found, results=whole))
    assert "handoff keeps the most: 100% ± 0.0% of what a model should still know" in told
    between = compared(whole, even_asked=True)
    assert between is not None
    assert (between.how, between.difference.mean) == ("asked", 1.0)
