"""`pinfold eval` without a model: its page, its JSON, its report."""

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from fakes.process import Pinfold
from fakes.terminal import Terminal
from pinfold import __version__
from pinfold.cli import run
from pinfold.evaluation.evaluate import EvalProgress, EvalWish, evaluate, known
from pinfold.evaluation.report_trials import report
from pinfold.evaluation.scores import Evaluation
from pinfold.tokens.counter import Counter

SMALL = ("--trials", "2", "--compactions", "2", "--budget", "1500", "--conversations", "2")
Out = pytest.CaptureFixture[str]


pytestmark = pytest.mark.usefixtures("home")


def without_times(page: str) -> str:
    """What differs from run to run."""
    page = re.sub(r" · \d+s of work ·\s.* UTC", "", page)
    return re.sub(r" +\d+ +\d+((?: +–){4})$", r"    n    n\1", page, flags=re.MULTILINE)


def test_the_page(golden: SnapshotAssertion, capsys: Out) -> None:
    """Scores with bars, in 80 columns; what the work took; a verdict in words."""
    strategies = ("prune", "tail", "masking", "handoff")
    chosen = [word for name in strategies for word in ("--strategy", name)]
    assert run(["eval", *SMALL, *chosen]) == 0
    page = capsys.readouterr().out
    assert max(map(len, page.splitlines())) <= 80
    assert without_times(page).encode() == golden


def test_the_scores_are_explained(golden: SnapshotAssertion, capsys: Out) -> None:
    """A definition of each score."""
    assert run(["eval", "--explain"]) == 0
    assert capsys.readouterr().out.encode() == golden


@pytest.mark.slow
async def test_the_json_is_the_same_under_any_hash_seed(tmp_path: Path) -> None:
    found = []
    for seed in ("0", "1"):
        ended = await Pinfold(tmp_path, PYTHONHASHSEED=seed).run("eval", *SMALL, "--json")
        assert ended.code == 0, ended.err
        told = json.loads(ended.out)
        del told["seconds"], told["at"]
        for result in told["results"]:
            del result["times"]
        found.append(told)
    assert found[0] == found[1]
    assert found[0]["results"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--compactions", "6"], "from 1 to 5"),
        (["--trials", "0"], "--trials"),
        (["--conversations", "0"], "--conversations"),
        (["--budget", "20"], "500 or more"),
        (["--budget", "200000"], "at most 128,000"),
        (["--strategy", "core", "--strategy", "codex"], "name it with --model"),
        (["--strategy", "magic"], "There is no strategy magic. There are: prune, "),
        (["--judge", "m"], "name that model with --model"),
    ],
)
def test_wrong_use_is_told(arguments: list[str], said: str, capsys: Out) -> None:
    assert run(["eval", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


SHORT = ("--trials", "1", "--compactions", "1", "--conversations", "1", "--strategy", "tail")


def test_a_report_is_written_beside_the_page(tmp_path: Path, capsys: Out) -> None:
    assert run(["eval", *SHORT, "--json", "--html", "report.html"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["version"] == __version__
    assert told.err == "Report written to report.html.\n"
    assert "What each compaction keeps" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("old.html", "exists already"),
        ("absent/new.html", "absent is not a writable folder"),
        (".", "exists"),
    ],
)
def test_a_report_that_can_not_be_written_is_told_before_the_trials(
    name: str, said: str, tmp_path: Path, capsys: Out
) -> None:
    (tmp_path / "old.html").write_text("mine")
    assert run(["eval", *SHORT, "--html", name]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = told.err.splitlines()
    assert said in line
    assert (tmp_path / "old.html").read_text() == "mine"


async def test_interrupted_it_says_what_the_trials_that_were_over_say() -> None:
    """The first Ctrl+C ends it, and nothing that was measured is lost."""
    counter = Counter("none")
    task: asyncio.Task[Evaluation]

    def told(at: EvalProgress) -> None:
        if at.done == 3:  # in the second trial
            task.cancel()

    wish = EvalWish(trials=3, compactions=2, budget=1_000, conversations=1)
    task = asyncio.create_task(evaluate(wish, known(["tail"]), counter, listener=told))
    found = await task
    assert (found.trials, found.interrupted) == (1, True)
    whole = EvalWish(trials=1, compactions=2, budget=1_000, conversations=1)
    same = await evaluate(whole, known(["tail"]), counter)
    assert found.results[0].points == same.results[0].points
    assert "interrupted: these are the trials that were finished" in report(found).facts


def test_who_watches_sees_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Terminal()
    monkeypatch.setattr(sys, "stderr", seen)
    two = ("--strategy", "tail", "--strategy", "masking", "--strategy", "core")
    assert run(["eval", *SHORT, *two]) == 0
    told = seen.getvalue().split("\r\x1b[K")
    assert any("0/2 compactions: " in line and line.endswith(", tail") for line in told)
    assert any("1/2 compactions, about " in line and ", masking" in line for line in told)
    assert told[-1] == ""
