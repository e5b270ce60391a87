"""`pinfold eval --model`: a model that answers, one that grades, and endpoints that fail."""

import asyncio
import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.openai_server import FakeOpenAI, Recorded, Reply
from fakes.process import Ended, Pinfold
from pinfold.evaluation.scores import PROBES

Answer = Callable[[Recorded], Reply | None]
FEW = ("--strategy", "checkpoint", "--strategy", "tail")
SOON = {"retry-after-ms": "5"}


def text_of(request: Recorded) -> str:
    """All that stands in a request."""
    return "\n".join(message["content"] or "" for message in request.body["messages"])


def knows(request: Recorded) -> Reply:
    """Says again all that stands in its window."""
    return Reply(text_of(request) if "Before you continue" in text_of(request) else "My notes.")


def knows_nothing(_request: Recorded) -> Reply:
    return Reply("I don't know.")


def strict(request: Recorded) -> Reply:
    """Grades a statement that stands in the answer to the letter; a value that is out of date where
    it is the last that is said."""
    answer, _, told = text_of(request).partition("\n\nTHE STATEMENTS\n")
    statements = re.findall(r"^\d+\. (.+)$", told, re.MULTILINE)
    latest = dict(statement.split(": ", 1) for statement in statements if ": " in statement)
    grades: list[int] = []
    for statement in statements:
        label, stale, value = statement.partition(", as what holds now: ")
        if stale:
            grades.append(int(answer.rfind(value) > answer.rfind(latest[label])))
        else:
            value = statement.partition(": ")[2]
            grades.append(int(statement in answer or (bool(value) and value in answer)))
    return Reply(json.dumps({"grades": grades}))


def each(model: Answer, judge: Answer) -> Answer:
    """Both behind one endpoint."""
    return lambda request: (judge if "THE STATEMENTS" in text_of(request) else model)(request)


async def tried(tmp_path: Path, server: FakeOpenAI, *arguments: str, trials: int = 1) -> Ended:
    return await Pinfold(tmp_path, **Pinfold.on(server.url)).run(
        "eval", "--model", "scripted-1", "--trials", str(trials), "--compactions", "1", *arguments
    )


async def found(tmp_path: Path, server: FakeOpenAI, *arguments: str, trials: int = 1) -> Any:
    ended = await tried(tmp_path, server, *arguments, "--json", trials=trials)
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def means(told: Any, strategy: str, at: int, how: str) -> dict[str, float]:
    (result,) = (value for value in told["results"] if value["strategy"] == strategy)
    return {name: one["mean"] for name, one in result["points"][at][how]["probes"].items()}


@pytest.mark.slow
async def test_what_is_read_and_what_is_asked_are_two_things(tmp_path: Path) -> None:
    async with FakeOpenAI(answer=each(knows, strict)) as server:
        good = await found(tmp_path, server, *FEW)
    async with FakeOpenAI(answer=each(knows_nothing, strict)) as server:
        bad = await found(tmp_path, server, *FEW)
    nothing = {**dict.fromkeys(PROBES, 0.0), "stale": 1.0}
    for strategy in ("checkpoint", "tail"):
        for at in (0, 1):
            assert means(good, strategy, at, "read") == means(bad, strategy, at, "read")
            assert means(bad, strategy, at, "asked") == nothing
    assert set(means(good, "tail", 0, "asked").values()) == {1.0}
    assert means(good, "checkpoint", 1, "asked")["goal"] == 1.0
    assert means(good, "tail", 1, "asked")["goal"] == 0.0
    assert good["comparison"]["how"] == "asked"
    assert "checkpoint keeps the most" in good["verdict"]


@pytest.mark.slow
async def test_a_model_writes_another_grades_and_each_is_billed_for_its_own(
    tmp_path: Path,
) -> None:
    strategies = ("handoff", "bare-handoff", "codex", "summary+tail", "tail")
    chosen = [word for name in strategies for word in ("--strategy", name)]
    prices = ("-c", "prices.scripted-1.input=1000", "-c", "prices.scripted-1.output=0")
    async with FakeOpenAI(answer=each(knows, strict)) as server:
        told = await found(tmp_path, server, *chosen, "--judge", "judge-1", *prices)
        asked = [request for request in server.requests if request.body]
    assert [result["strategy"] for result in told["results"]] == list(strategies)
    assert told["budget"] == 819  # a tenth of its window
    assert told["judge"].endswith("/judge-1")
    written = [result["spent"] for result in told["results"]]
    assert [spent is None for spent in written] == [False] * 4 + [True]
    windows = 1 + len(strategies)
    hello = 1
    # The server reports 10 tokens in and 5 out for every request.
    assert told["answering"] == {"input": 10 * (windows + hello), "output": 5 * (windows + hello),
                                 "dollars": pytest.approx(0.01 * (windows + hello))}  # fmt: skip
    assert told["grading"] == {"input": 70, "output": 35, "dollars": None}
    every = [spent["input"] for spent in (*written[:4], told["answering"], told["grading"])]
    assert sum(every) == 10 * len(asked)
    for request in asked:
        judges = "THE STATEMENTS" in text_of(request)
        if judges or "Before you continue" in text_of(request):
            assert request.body["model"] == ("judge-1" if judges else "scripted-1")
            assert "tools" not in request.body


@pytest.mark.slow
async def test_a_judge_of_another_provider(tmp_path: Path) -> None:
    async with (
        FakeOpenAI(answer=knows) as server,
        FakeOpenAI(answer=strict, pages={"/v1/models": {"data": [{"id": "j"}]}}) as other,
    ):
        provider = ("-c", f"providers.court.base_url={other.url}")
        mine = ("-c", f"providers.mine.base_url={server.url}")
        names = ("--model", "mine/scripted-1", "--judge", "court/j")
        told = await found(tmp_path, server, *FEW, *provider, *mine, *names)
        assert not any("THE STATEMENTS" in text_of(one) for one in server.requests if one.body)
        assert any("THE STATEMENTS" in text_of(one) for one in other.requests if one.body)
    assert (told["model"], told["judge"]) == ("mine/scripted-1", "court/j")
    assert told["comparison"]["how"] == "asked"


@pytest.mark.slow
async def test_a_judge_that_talks_garbage_leaves_windows_ungraded_and_says_so(
    tmp_path: Path,
) -> None:
    async with FakeOpenAI(answer=each(knows, lambda _: Reply("Very good!"))) as server:
        told = await found(tmp_path, server, *FEW)
        page = await tried(tmp_path, server, *FEW)
    for result in told["results"]:
        assert [point["asked"] for point in result["points"]] == [None, None]
        assert [point["ungraded"] for point in result["points"]] == [1, 1]
        assert result["asked_trials"] == [[None, None]]
    assert told["comparison"]["how"] == "read"
    assert "by the windows' text: not all answers" in told["verdict"]
    assert "tail: 1 of 1 window not graded: the judge gave no grades" in page.out


async def test_a_busy_endpoint_is_asked_again(tmp_path: Path) -> None:
    busy = [0]

    def now_and_then(request: Recorded) -> Reply:
        busy[0] += 1
        if busy[0] % 3 == 2:
            return Reply(status=429, body={"error": {"message": "slow down"}}, headers=SOON)
        return knows(request)

    async with FakeOpenAI(answer=each(now_and_then, strict)) as server:
        told = await found(tmp_path, server, *FEW)
    assert [point["ungraded"] for one in told["results"] for point in one["points"]] == [0] * 4


@pytest.mark.slow
async def test_an_endpoint_that_dies_in_the_middle(tmp_path: Path) -> None:
    """What was graded before stands, the rest is read, and it does not insist at each question."""
    exams = [0]

    def dies(request: Recorded) -> Reply:
        exams[0] += "Before you continue" in text_of(request)
        if exams[0] > 4:
            return Reply(status=503, body={"error": {"message": "gone"}}, headers=SOON)
        return knows(request)

    async with FakeOpenAI(answer=each(dies, strict)) as server:
        told = await found(tmp_path, server, *FEW, "--html", "report.html", trials=2)
        refused = len(server.requests)
        page = (tmp_path / "work" / "report.html").read_text()
    checkpoint, tail = told["results"]
    assert [point["ungraded"] for point in checkpoint["points"]] == [0, 1]
    assert [point["ungraded"] for point in tail["points"]] == [0, 1]
    assert checkpoint["points"][1]["asked"]["probes"]["goal"] == {
        "mean": 1.0, "deviation": 0.0, "low": 1.0, "high": 1.0,
    }  # fmt: skip
    assert checkpoint["asked_trials"][1][1] is None
    assert told["comparison"]["how"] == "read"
    assert "checkpoint: 1 of 2 windows not graded" in page
    assert refused < 20


async def test_an_endpoint_that_is_not_there_ends_it_at_once(tmp_path: Path) -> None:
    async with FakeOpenAI() as server:
        pass
    ended = await tried(tmp_path, server, *FEW)
    assert ended.code == 1
    assert ended.out == ""
    assert len(ended.err.splitlines()) == 1


async def test_a_judge_that_refuses_its_key_ends_it_at_once(tmp_path: Path) -> None:
    def refuses(request: Recorded) -> Reply:
        if request.body["model"] == "judge-1":
            return Reply(status=401, body={"error": {"message": "no such key"}})
        return knows(request)

    async with FakeOpenAI(answer=refuses) as server:
        ended = await tried(tmp_path, server, *FEW, "--judge", "judge-1")
        assert not any("Before you continue" in text_of(one) for one in server.requests if one.body)
    assert ended.code == 1
    assert "key" in ended.err


async def test_interrupted_before_a_trial_is_over_it_has_nothing_to_show(tmp_path: Path) -> None:
    asked = asyncio.Event()

    def thinks(request: Recorded) -> Reply:
        if "Before you continue" not in text_of(request):
            return Reply("Yes.")
        asked.set()
        return Reply("Well ...", gate=asyncio.Event())

    async with FakeOpenAI(answer=thinks) as server:
        pinfold = Pinfold(tmp_path, **Pinfold.on(server.url))
        process = await pinfold.start("eval", "--model", "scripted-1", *FEW)
        await asked.wait()
        process.send_signal(signal.SIGINT)
        out, err = await process.communicate()
        await server.dropped.wait()
    assert process.returncode == 1
    assert out == b""
    assert err == b"pinfold: interrupted before a trial was finished; there is nothing to show.\n"


async def test_what_the_server_can_not_do_is_not_run(tmp_path: Path) -> None:
    async with FakeOpenAI(answer=each(knows, strict)) as server:
        told = await found(tmp_path, server, "--strategy", "remote", "--strategy", "snapshot")
    for result in told["results"]:
        assert len(result["points"]) == 1
        assert result["not_run"]
