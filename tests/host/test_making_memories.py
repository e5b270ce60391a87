"""Memories are made beside a session of the shell, and offered once."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fakes.openai_server import FakeOpenAI, Recorded, Reply, use
from fakes.remembering import RULE, answer, session
from pinfold.agent.requests.metadata import HEADER
from pinfold.headless import no_terminal
from pinfold.host.app_context import app_context
from pinfold.host.host import Host
from pinfold.host.memories_offer import OFFER, offer
from pinfold.host.remembering import remember

USED = datetime.now(UTC) - timedelta(days=1)


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch, home: Path) -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI(pages={"/v1/models": {"data": [{"id": "m"}]}}) as running:
        use(monkeypatch, running.url, MODEL__NAME="m", MODEL__CONTEXT_WINDOW="32768")
        yield running


async def test_offline_the_whole_pipeline_asks_nobody(
    server: FakeOpenAI, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINFOLD_MEMORIES__GENERATE", "offline")
    name = session(home, used=USED)
    ctx = app_context()
    said = str(await remember(ctx))
    assert said.startswith("1 session read without a model: ")
    memory = (home / "memories" / "MEMORY.md").read_text()
    assert f"- command: `make test` [{name}#12]" in memory
    assert server.requests == []
    assert str(await remember(ctx)).startswith("No session has changed since")


async def test_a_session_of_the_shell_has_the_earlier_ones_read(
    server: FakeOpenAI, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINFOLD_MEMORIES__ENABLED", "true")
    session(home, used=USED)
    asked: asyncio.Queue[Recorded] = asyncio.Queue()

    def reply(request: Recorded) -> Reply:
        asked.put_nowait(request)
        return Reply(answer(RULE))

    server.answer = reply
    host = Host(app_context())
    await host.new(no_terminal)
    request = await asked.get()
    assert json.loads(request.headers[HEADER]) == {"request_kind": "memory"}
    await host.stop()


async def test_no_memories_are_made_until_the_user_says_so(server: FakeOpenAI, home: Path) -> None:
    session(home, used=USED)
    host = Host(app_context())
    await host.new(no_terminal)
    await host.stop()
    assert server.requests == []
    assert not (home / "memories.db").exists()


def test_memories_are_offered_once_to_whoever_has_earlier_sessions(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctx = app_context()
    session(ctx.home)
    assert offer(ctx) == ""
    session(ctx.home)
    monkeypatch.setenv("PINFOLD_MEMORIES__ENABLED", "false")
    assert offer(app_context()) == ""
    assert [offer(ctx), offer(ctx)] == [OFFER, ""]
