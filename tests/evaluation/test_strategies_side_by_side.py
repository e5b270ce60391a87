"""Evaluations: budgets, baselines, what can't run, comparisons and their verdict."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.compactions import session
from fakes.evaluating import BUDGET, COUNTER, SETTING, conversation
from pinfold.compaction.inserted import DIGEST_HEADER
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.strategy import Material, ModelFree
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.evaluation.dialogues import dialogues
from pinfold.evaluation.evaluate import EvalWish, evaluate, known
from pinfold.evaluation.scores import Evaluation, StrategyResult
from pinfold.evaluation.trials import run
from pinfold.window.refused import Refused

WISH = EvalWish(trials=2, compactions=2, budget=BUDGET, conversations=2)


@pytest.fixture(scope="module")
def found() -> Evaluation:
    return asyncio.run(evaluate(WISH, known(), COUNTER))


def result(found: Evaluation, name: str) -> StrategyResult:
    return next(
        strategy_result for strategy_result in found.results if strategy_result.strategy == name
    )


def test_ours_and_the_baselines_are_all_there(found: Evaluation) -> None:
    names = {strategy_result.strategy: strategy_result.kind for strategy_result in found.results}
    assert {name for name, kind in names.items() if kind == "baseline"} == {
        "tail",
        "masking",
        "codex",
        "bare-handoff",
        "core-handoff",
        "summary+tail",
    }
    assert {"prune", "checkpoint", "snapshot", "handoff", "remote", "layered"} <= set(names)


def test_bare_handoff_lacks_core_and_digest_and_core_handoff_the_digest_alone() -> None:
    view, made = session(12).view(), Material(text="Go on.", through=90)
    (ours, _), (bare, kind), (core, _) = known(["core", "bare-handoff", "core-handoff"])
    assert (ours.name, kind) == ("handoff", "baseline")
    one, two, three = (strategy.plan(view, made, PlanOptions()) for strategy in (ours, bare, core))
    assert [item.kind for item in one.inserted] == ["checkpoint", "summary"]
    assert list(two.inserted) == list(one.inserted[1:]) == list(three.inserted[1:])
    assert "PROTECTED CORE" in three.inserted[0].content
    assert DIGEST_HEADER in one.inserted[0].content
    assert DIGEST_HEADER not in three.inserted[0].content
    assert len({tuple(n for n, _ in plan.window if n > 0) for plan in (one, two, three)}) == 1


def test_what_needs_a_model_is_not_run_and_replaced_by_nothing(found: Evaluation) -> None:
    for name in ("snapshot", "handoff", "remote", "codex", "bare-handoff", "core-handoff"):
        strategy_result = result(found, name)
        assert strategy_result.points == ()
        assert "needs a model" in strategy_result.not_run


def test_all_start_from_the_same_full_window(found: Evaluation) -> None:
    start = result(found, "tail").points[0]
    assert start == result(found, "checkpoint").points[0]
    assert start.read.overall.mean == 1.0
    assert start.tokens.mean > 3 * BUDGET


def test_windows_keep_to_the_budget_or_are_marked(found: Evaluation) -> None:
    for name in ("checkpoint", "tail", "masking"):
        assert all(point.within for point in result(found, name).points[1:])
    assert not result(found, "prune").points[1].within
    assert "prune keeps" not in found.verdict


def test_the_comparison_is_made_trial_by_trial(found: Evaluation) -> None:
    told = found.comparison
    assert told is not None
    assert (told.strategy, told.against, told.compactions) == ("checkpoint", "tail", 2)
    pairs = zip(result(found, "checkpoint").trials, result(found, "tail").trials, strict=True)
    differences = [one[2] - other[2] for one, other in pairs]
    assert told.difference.low == pytest.approx(min(differences))
    assert told.difference.high == pytest.approx(max(differences))


def test_the_verdict_names_the_best_within_the_budget(found: Evaluation) -> None:
    assert found.verdict.startswith("After 2 compactions to 1,000 tokens, ")
    assert "checkpoint and layered keep the same, and the most: " in found.verdict


class Tired(ModelFree):
    """Gives up at its second compaction."""

    name = "tired"

    def __init__(self) -> None:
        ((self._tail, _),) = known(["tail"])
        self._plans = 0

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        self._plans += 1
        if self._plans > 1:
            raise Refused("I am tired.")
        return self._tail.plan(view, material, options)


def test_a_strategy_that_gives_up_keeps_the_points_that_it_reached() -> None:
    (trial,) = asyncio.run(run(conversation(compactions=3), [Tired()], SETTING))
    assert len(trial.points) == 2
    assert trial.not_run == "I am tired."


def printed(folder: Path, hash_seed: str, zone: str) -> bytes:
    """What `pinfold eval --json` says in another process, without what it measured of time."""
    ask = ["--trials", "1", "--compactions", "2", "--conversations", "2", "--budget", "1000"]
    folders = dict.fromkeys(("PINFOLD_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), str(folder))
    made = subprocess.run(
        [sys.executable, "-m", "pinfold", "eval", "--json", *ask],
        env={**os.environ, **folders, "PYTHONHASHSEED": hash_seed, "TZ": zone},
        capture_output=True,
        check=True,
    )
    found = json.loads(made.stdout)
    for timed in ("at", "seconds"):
        del found[timed]
    for value in found["results"]:
        del value["times"]
    return json.dumps(found).encode()


@pytest.mark.slow
def test_figures_do_not_hang_on_hash_seeds_or_time_zones(tmp_path: Path) -> None:
    assert printed(tmp_path, "1", "Asia/Tokyo") == printed(tmp_path, "77", "America/Lima")


def test_all_conversations_are_tried_where_no_number_is_wished_for() -> None:
    wish = EvalWish(trials=1, compactions=1, budget=BUDGET)
    found = asyncio.run(evaluate(wish, known(["checkpoint"]), COUNTER))
    assert set(result(found, "checkpoint").by_conversation) == {e.name for e in dialogues()}
