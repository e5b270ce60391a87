"""`pinfold eval`: its page, its JSON, and models that are asked."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension
from syrupy.location import PyTestLocation

from fakes.openai_server import FakeOpenAI, Recorded, Reply
from fakes.process import Pinfold
from pinfold.cli import run
from pinfold.evaluation.scores import PROBES

SNAPSHOTS = Path(__file__).parents[2] / "snapshots" / Path(__file__).stem
SMALL = ("--trials", "2", "--compactions", "2", "--budget", "1500", "--conversations", "2")
Out = pytest.CaptureFixture[str]


class Text(SingleFileSnapshotExtension):
    _file_extension = "txt"

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(SNAPSHOTS)


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(Text)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINFOLD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PINFOLD_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)


def without_times(page: str) -> str:
    """Milliseconds differ from run to run."""
    return re.sub(r" +\d+/\d+$", "      n/n", page, flags=re.MULTILINE)


def test_the_page(golden: SnapshotAssertion, capsys: Out) -> None:
    """Scores before and after, in 80 columns; bars over the compactions; a verdict in words."""
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


async def test_the_json_is_the_same_under_any_hash_seed(tmp_path: Path) -> None:
    found = []
    for seed in ("0", "1"):
        ended = await Pinfold(tmp_path, PYTHONHASHSEED=seed).run("eval", *SMALL, "--json")
        assert ended.code == 0, ended.err
        told = json.loads(ended.out)
        del told["seconds"]
        for each in told["results"]:
            del each["times"]
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
        (["--strategy", "magic"], "There is no strategy magic. There are: prune, "),
        (["--judge", "m"], "name that with --model"),
    ],
)
def test_wrong_use_is_told(arguments: list[str], said: str, capsys: Out) -> None:
    assert run(["eval", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def grades(request: Recorded) -> Reply | None:
    """A model that remembers nothing but the goal, and a judge that sees that."""
    asked: str = request.body["messages"][-1]["content"]
    if "response_format" in request.body:
        count = len(re.findall(r"^\d+\. ", asked.partition("THE STATEMENTS")[2], re.MULTILINE))
        return Reply(json.dumps({"grades": [1, *[0] * (count - 1)]}))
    return Reply("The goal, and nothing else." if "Before you go on" in asked else "My notes.")


async def evaluated(tmp_path: Path, server: FakeOpenAI, *arguments: str) -> Any:
    ended = await Pinfold(tmp_path, **Pinfold.on(server.url)).run(
        "eval", "--model", "scripted-1", "--trials", "1", "--compactions", "1", *arguments, "--json"
    )
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


async def test_a_model_is_asked_and_another_grades(tmp_path: Path) -> None:
    strategies = ("core", "handoff", "codex", "summary+tail", "tail")
    chosen = [word for name in strategies for word in ("--strategy", name)]
    async with FakeOpenAI(answer=grades) as server:
        found = await evaluated(tmp_path, server, *chosen, "--judge", "judge-1")
    assert [each["strategy"] for each in found["results"]] == list(strategies)
    assert found["budget"] == 1_024  # an eighth of its window
    for each in found["results"]:
        _, after = each["points"]
        asked = {probe: after["asked"]["probes"][probe]["mean"] for probe in PROBES}
        assert asked == {**dict.fromkeys(PROBES, 0.0), "goal": 1.0, "stale": 1.0}
        assert (each["spent"] is None) == (each["strategy"] == "tail")
    assert found["comparison"]["strategy"] == "core"
    assert found["comparison"]["how"] == "asked"
    models = {request.body["model"] for request in server.requests if request.body}
    assert models == {"scripted-1", "judge-1"}


async def test_what_the_server_can_not_do_is_not_run(tmp_path: Path) -> None:
    async with FakeOpenAI(answer=grades) as server:
        found = await evaluated(tmp_path, server, "--strategy", "remote", "--strategy", "snapshot")
    for each in found["results"]:
        assert len(each["points"]) == 1
        assert each["not_run"]


async def test_grades_that_can_not_be_read_leave_the_window_unasked(tmp_path: Path) -> None:
    def mumbles(request: Recorded) -> Reply:
        return Reply("Very good, I should say.")

    async with FakeOpenAI(answer=mumbles) as server:
        found = await evaluated(tmp_path, server, "--strategy", "tail")
    (tail,) = found["results"]
    assert [point["asked"] for point in tail["points"]] == [None, None]
    assert "no grades that can be read" in tail["notes"][0]
