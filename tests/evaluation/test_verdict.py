"""The sentence on two strategies, which says no more than its spread bears out."""

import pytest
from msgspec.structs import replace

from pinfold.evaluation.evaluate import compared
from pinfold.evaluation.scores import (
    PROBES,
    Comparison,
    Evaluation,
    Point,
    StrategyResult,
    scores,
    spread,
)
from pinfold.evaluation.verdict import comparison, verdict


@pytest.mark.parametrize(
    ("differences", "said"),
    [
        ([0.2, 0.3, 0.4], "core is ahead of handoff in goal coherence after 3, by a model"),
        ([-0.2, -0.3], "core is behind handoff"),
        ([-0.1, 0.0, 0.3], "core and handoff can't be told apart"),
        ([0.2, 0.3, 0.4], "+0.30 ± 0.10 (+0.20 to +0.40 in 3 trials)."),
        ([0.5], "+0.50 ± 0.00 (+0.50 to +0.50 in 1 trial)."),
    ],
)
def test_one_is_ahead_only_where_it_is_in_every_trial(differences: list[float], said: str) -> None:
    told = Comparison("core", "handoff", 3, "asked", spread(differences))
    assert said in comparison(told, len(differences))


def test_what_a_smoke_test_said_counts_for_nothing() -> None:
    kept, lost = (dict.fromkeys(PROBES, value) for value in (1.0, 0.0))
    window = spread([900.0])
    start = Point(0, scores([kept]), scores([kept]), window, within=True)
    points = (start, Point(1, scores([lost]), scores([kept]), window, within=True))
    results = tuple(
        StrategyResult(name, "ours", points, trials=((1.0, at),), asked_trials=((1.0, 1.0),))
        for name, at in (("core", 0.5), ("handoff", 0.25))
    )
    told = {even_asked: compared(results, even_asked=even_asked) for even_asked in (True, False)}
    assert [(each.how, each.difference.mean) for each in told.values() if each] == [
        ("asked", 0.0),
        ("read", 0.25),
    ]
    found = Evaluation(1, 1, 1, 1_000, 3.1, (), "small", "small", True, results, None, "")
    assert "keeps the most: 0% of" in verdict(found)
    assert "smoke test" in verdict(found)
    assert "keeps the most: 100% of" in verdict(replace(found, smoke=False))
