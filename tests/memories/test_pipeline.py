"""Phase 1 as a whole: who is asked what, and what stays when it fails or is stopped."""

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fakes.digests import asked, called, replied
from fakes.openai_server import FakeOpenAI, Recorded, Reply
from fakes.provider import FakeClock
from fakes.remembering import NOW, RULE, WORK, answer, session, statement
from fakes.secrets import planted
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.metadata import HEADER
from pinfold.memories.pipeline import CONCURRENCY, Phase1, PipelineReport
from pinfold.memories.state import MemoriesState
from pinfold.ports.errors import NoSuchModel, ProviderError
from pinfold.ports.provider import ModelInfo
from pinfold.providers.http_provider import HttpProvider
from pinfold.rollout.store import SessionStore
from pinfold.settings import MemorySettings
from pinfold.tokens.counter import Counter


class Clock(FakeClock):
    at = NOW

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(tmp_path: Path, clock: Clock) -> Iterator[MemoriesState]:
    opened = MemoriesState(tmp_path, clock.now)
    yield opened
    opened.close()


def connecting(server: FakeOpenAI, window: int = 32_000, most: int = 4_000) -> Any:
    async def connect() -> Connection:
        provider = HttpProvider("fake", server.url, None, "chat")
        model = ModelInfo("strong", "fake", window, "config", max_output=most)
        return Connection(provider, model, "chat", "", base_url=server.url)

    return connect


def phase(state: MemoriesState, clock: Clock, connect: Any = None, limit: int = 16) -> Phase1:
    home = state.path.parent
    return Phase1(state, SessionStore(home), MemorySettings(), clock, limit=limit, connect=connect)


async def run(
    state: MemoriesState, clock: Clock, connect: Any = None, **more: Any
) -> PipelineReport:
    return await phase(state, clock, connect, **more).run()


def prompt_of(request: Recorded) -> str:
    return "\n".join(str(message["content"]) for message in request.body["messages"])


async def test_a_session_becomes_a_record_that_is_not_made_again(
    state: MemoriesState, clock: Clock, tmp_path: Path
) -> None:
    name = session(tmp_path)
    wrong = statement("fact", "The limit is 99.", (4, "The limit is 40"))
    async with FakeOpenAI([Reply(answer(RULE, wrong))]) as server:
        report = await run(state, clock, connecting(server))
        assert (await run(state, clock, connecting(server))).results == {}
        (request,) = server.requests
    assert report.results == {name: "succeeded"}
    assert (report.proven, report.left_out) == (1, {"nothing that it cites says 99": 1})
    assert (report.model, report.usage.input) == ("fake/strong", 10)
    (row,) = state.outputs()
    assert (row.session_id, row.cwd, row.rollout_slug) == (name, "/w", "raise-the-limit")
    assert row.raw_memory.startswith("- rule: Run the tests with `make test`")
    # The request says what it is for, and not whose it is.
    assert json.loads(request.headers[HEADER]) == {"request_kind": "memory"}
    everything = json.dumps([request.headers, request.body])
    assert name not in everything
    for field in "session_id", "thread_id", "turn_id", "window_id":
        assert field not in everything
    assert "tools" not in request.body
    assert request.body["response_format"]["json_schema"]["strict"] is True
    assert "#1 user: Please always run the tests" in prompt_of(request)


async def test_a_long_session_is_read_in_at_most_70_percent_of_the_window(
    state: MemoriesState, clock: Clock, tmp_path: Path
) -> None:
    words = Random(1).sample(["".join(p) for p in product("bdgk", "aeiou", "lmnrs", "aeo")], 300)
    outputs = (replied(f"{' '.join(words[n : n + 20])} in step {n}.") for n in range(280))
    session(tmp_path, *WORK, *outputs, replied("All is well."))
    async with FakeOpenAI([Reply(answer())]) as server:
        await run(state, clock, connecting(server, window=8_000, most=1_000))
        (request,) = server.requests
    counter = Counter("o200k_base")
    counter.load()
    tokens = counter.count(prompt_of(request))
    assert 4_000 < tokens <= 0.7 * 8_000
    assert "Please always run the tests with `make test`" in prompt_of(request)


async def test_a_server_with_less_room_than_it_says_gets_less(
    state: MemoriesState, clock: Clock, tmp_path: Path
) -> None:
    name = session(tmp_path)
    overflow = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    async with FakeOpenAI([Reply(status=400, body=overflow), Reply(answer(RULE))]) as server:
        report = await run(state, clock, connecting(server))
    assert report.results == {name: "succeeded"}


@pytest.mark.parametrize(
    "reply", [Reply("no memory"), Reply(status=401, body={}), Reply(answer(RULE), finish="length")]
)
async def test_what_fails_is_told_and_waits(
    state: MemoriesState, clock: Clock, tmp_path: Path, reply: Reply
) -> None:
    name = session(tmp_path)
    async with FakeOpenAI([reply]) as server:
        report = await run(state, clock, connecting(server))
        assert report.results == {name: "failed"}
        assert report.errors[name]
        assert (await run(state, clock, connecting(server))).results == {}
    (job,) = state.jobs()
    assert (job.status, job.attempts, job.error) == ("failed", 1, report.errors[name])
    clock.at += timedelta(hours=1)
    assert (await run(state, clock)).results == {name: "succeeded"}


async def test_without_a_model_sessions_are_read_offline_and_one_that_fails_stops_no_other(
    state: MemoriesState, clock: Clock, tmp_path: Path
) -> None:
    bad, good = session(tmp_path), session(tmp_path)

    async def deleting() -> Connection:
        shutil.rmtree(SessionStore(tmp_path).find(bad))
        raise ProviderError("There is no model.")

    report = await run(state, clock, deleting)
    assert report.results == {bad: "failed", good: "succeeded"}
    assert report.errors[bad].startswith("There is no session in")
    assert report.note == "No model is set up: memories are made without one."


async def test_a_model_that_is_named_wrongly_is_told_and_nothing_is_claimed(
    state: MemoriesState, clock: Clock, tmp_path: Path
) -> None:
    async def wrong() -> Connection:
        raise NoSuchModel("There is no provider gogle.")

    session(tmp_path)
    assert (await run(state, clock, wrong)).note == "There is no provider gogle."
    assert [job.status for job in state.jobs()] == ["released"]


async def test_eight_are_asked_at_once_and_closing_gives_all_back(
    state: MemoriesState, clock: Clock, tmp_path: Path
) -> None:
    for _ in range(CONCURRENCY + 3):
        session(tmp_path)
    never = asyncio.Event()
    async with FakeOpenAI(answer=lambda _: Reply("{", gate=never)) as server:
        running = asyncio.create_task(run(state, clock, connecting(server)))
        while len(server.requests) < CONCURRENCY:
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert len(server.requests) == CONCURRENCY
    assert {(job.status, job.attempts) for job in state.jobs()} == {("released", 0)}
    first = (await run(state, clock, limit=4)).results
    rest = (await run(state, clock)).results
    assert [*first.values(), *rest.values()] == ["succeeded"] * (CONCURRENCY + 3)
    assert len(first) == 4


async def test_no_model_is_asked_about_a_session_in_which_nothing_was_said(
    state: MemoriesState, clock: Clock, tmp_path: Path
) -> None:
    silent = session(tmp_path, asked("# AGENTS.md", act="host"))
    unanswered = session(tmp_path, asked("Hello?"))
    async with FakeOpenAI() as server:
        report = await run(state, clock, connecting(server))
        assert server.requests == []
    assert report.results == dict.fromkeys((silent, unanswered), "succeeded_no_output")


async def test_what_is_forgotten_while_it_is_read_stays_forgotten(
    state: MemoriesState, clock: Clock, tmp_path: Path
) -> None:
    name = session(tmp_path)

    def forget(_: Recorded) -> Reply:
        state.forget(name)
        return Reply(answer(RULE))

    async with FakeOpenAI(answer=forget) as server:
        report = await run(state, clock, connecting(server))
    assert report.results == {name: "lost"}
    assert state.outputs() == []


def echo(request: Recorded) -> Reply:
    """A model that repeats all it reads."""
    text = prompt_of(request)
    every = [
        statement("fact", line[:500], (n, line.strip()[:200]))
        for n in range(1, 5)
        for line in text.splitlines()
        if "ecret" in line
    ]
    return Reply(answer(RULE, *every[:50], summary=text[:20_000], slug=text[-60:]))


@pytest.mark.parametrize("with_model", [True, False])
async def test_no_secret_reaches_a_prompt_or_a_table(
    state: MemoriesState, clock: Clock, tmp_path: Path, *, with_model: bool
) -> None:
    every = planted(0)
    assert len(every) > 120
    places: list[Callable[[str], Any]] = [
        lambda text: asked(f"Please use this from now on: {text}"),
        lambda text: replied(f"I have found this value: {text}"),
        lambda text: called("command", text, command=f"run {text}", exit_code=0),
        lambda text: called("edit", "edited", paths=["app/x.py"], diff=f"@@\n+x = {text}"),
        lambda text: called("refused", "refused", refused=True, words=f"No: {text}"),
    ]
    for at, place in enumerate(places):
        session(tmp_path, *WORK, *(place(secret.text) for secret in every[at::5]))
    async with FakeOpenAI(answer=echo) as server:
        report = await run(state, clock, connecting(server, 200_000) if with_model else None)
        prompts = [prompt_of(request) for request in server.requests]
    assert list(report.results.values()) == ["succeeded"] * len(places)
    assert len(prompts) == (len(places) if with_model else 0)
    state.close()
    stored = "".join(
        path.read_bytes().decode("utf-8", "replace") for path in tmp_path.glob("memories.db*")
    )
    assert [secret.name for secret in every if secret.secret in stored] == []
    assert [secret.name for secret in every if any(secret.secret in text for text in prompts)] == []
