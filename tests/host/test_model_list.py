"""The models that can be chosen."""

import asyncio
from pathlib import Path

import pytest

from fakes.openai_server import FakeOpenAI, use
from pinfold.headless import no_terminal
from pinfold.host.app_context import app_context
from pinfold.host.host import Host

PAGES = {
    "/v1/models": {
        "data": [
            {"id": "aaa-first", "context_length": 9_000},
            {"id": "gpt-6.2-sol"},
            {"id": "old-one", "context_length": 5_000},
        ]
    }
}


async def test_recent_models_come_first_with_windows_and_levels(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeOpenAI(pages=PAGES) as server:
        use(monkeypatch, server.url, MODEL__NAME="old-one", MODEL__CONTEXT_WINDOW="")
        monkeypatch.setenv("XAI_API_KEY", "k")
        host = Host(app_context(), attended=False)
        session = await host.new(no_terminal)
        choice = session.choice
        lines = await asyncio.to_thread(lambda: list(host.models(choice.connection, choice.prices)))
        await host.stop()
    assert [line.name for line in lines[:3]] == ["old-one", "aaa-first", "gpt-6.2-sol"]
    assert [line.recent for line in lines[:3]] == [True, False, False]
    assert [line.asked_as for line in lines[:2]] == ["fake/old-one", "fake/aaa-first"]
    assert [line.window for line in lines[:3]] == [5_000, 9_000, 922_000]
    assert lines[2].efforts[0] == "low"
    assert lines[2].price is None  # who knows what this server charges
    [other] = lines[3:]
    assert other.asked_as == "xai/grok-4.7"
    assert other.price is not None
