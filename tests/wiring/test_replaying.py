"""A recording is played in a session of its own, and no model hears of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from fakes.agent import stage
from fakes.openai_server import FakeOpenAI, Reply, use
from fakes.provider import says
from pinfold.agent.options import Options
from pinfold.agent.session import Session
from pinfold.headless import no_terminal
from pinfold.host.app_context import app_context
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import RequestFinished
from pinfold.wiring.replaying import Player

TURNS = 14


@pytest.fixture
async def recording(tmp_path: Path) -> Path:
    """A session that fills its window, in which nothing was compacted."""
    options = Options(auto="off")
    model = ModelInfo("scripted-1", "scripted", 20_000, "config", 2_000)
    script = [says(f"In part {turn} it is so. " + "word " * 700) for turn in range(TURNS)]
    at = await stage(tmp_path, script, options=options, model=model)
    for turn in range(TURNS):
        at.session.send(f"read part {turn}")
        await at.session.idle()
    await at.session.close()
    return at.session.folder / "rollout.jsonl"


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch, home: Path) -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI([Reply("{}")] * 20) as running:
        use(
            monkeypatch,
            running.url,
            MODEL__CONTEXT_WINDOW="",
            COMPACT__MODEL="fake/cheap-1",
            COMPACT__CONTEXT_WINDOW="100000",
            COMPACT__PREPARE="true",
            COMPACT__PREPARE_THRESHOLD_PCT="0.3",
            COMPACT__PREPARE_BUDGET_PCT="1.0",
        )
        yield running


async def until(session: Session, true: Callable[[], bool]) -> None:
    heard = asyncio.Event()
    stop = session.subscribe(lambda _: heard.set())
    while not true():
        heard.clear()
        await heard.wait()
    stop()


async def played(player: Player) -> Session:
    """The session at the end of the recording, and of what that set off."""
    session = await player.start(no_terminal)
    await session.idle()
    await until(session, lambda: session.preparing.state != "preparing")
    return session


@pytest.mark.parametrize("threshold", [None, 0.5])
async def test_no_model_hears_of_a_recording(
    recording: Path, server: FakeOpenAI, threshold: float | None
) -> None:
    player = Player(app_context(), recording, 0, threshold=threshold)
    session = await played(player)
    assert session.items
    assert bool(player.rounds) == (threshold is not None)
    await session.close()
    player.close()
    assert not server.bodies


async def test_nor_where_one_is_asked_for_afterwards(recording: Path, server: FakeOpenAI) -> None:
    player = Player(app_context(), recording, 0)
    session = await played(player)
    draft = await session.compact("snapshot")
    assert draft is not None
    assert draft.plan.strategy == "checkpoint"
    assert "This is a recording: no model is called." in draft.material.error
    requests = [e.data for e in await session.events() if isinstance(e.data, RequestFinished)]
    assert requests[-1].model == "scripted-1"
    await session.close()
    player.close()
    assert not server.bodies


async def test_no_hook_hears_of_a_recording(
    recording: Path, server: FakeOpenAI, tmp_path: Path
) -> None:
    config = tmp_path / "config" / "pinfold" / "config.toml"
    config.parent.mkdir(parents=True)
    mark = tmp_path / "ran"
    config.write_text(f"[hooks]\npre_compact = ['touch {mark}']\n")
    ctx = app_context()
    assert ctx.settings.hooks.pre_compact
    player = Player(ctx, recording, 0, strategy="checkpoint", threshold=0.5)
    session = await played(player)
    assert player.rounds
    await session.close()
    player.close()
    assert not mark.exists()
