"""Which model summarises: the session's own, unless the settings name another."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.openai_server import FakeOpenAI, Recorded, Reply, use
from pinfold.agent.session import Session
from pinfold.headless import no_terminal
from pinfold.host.app_context import app_context
from pinfold.host.sessions import new_journal, open_session
from pinfold.rollout.events import RequestFinished

NOTES = "## Done\nThe parts were told. (#2)"


def said(request: Recorded) -> Reply:
    return Reply("A fact, at length. " * 90 if "tools" in request.body else NOTES)


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch, home: Path) -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI(answer=said) as running:
        use(monkeypatch, running.url, COMPACT_MODEL_CONTEXT_WINDOW_TOKENS="6000")
        yield running


async def worked() -> Session:
    ctx = app_context()
    session = await open_session(ctx, no_terminal, lambda: new_journal(ctx))
    session.set_threshold("off")
    for turn in range(6):
        session.send(f"Tell me of part {turn}; the port is 80{turn}1.")
        await session.idle()
    return session


async def by_whom(session: Session) -> set[str]:
    """The models that were asked to compact."""
    return {
        event.data.model
        for event in await session.events()
        if isinstance(event.data, RequestFinished) and event.data.purpose == "compaction"
    }


async def test_a_window_alone_is_no_other_model(server: FakeOpenAI) -> None:
    """Also once the session went on to another model."""
    session = await worked()
    await session.set_model("fake/another-1")
    assert (await session.compaction.quote(1_000)).model == "another-1"
    await session.compact("handoff")
    assert await by_whom(session) == {"another-1"}
    assert session.model.context_window != 6_000, "that is for what summarises alone"
    await session.close()


async def test_the_model_that_is_named_summarises(
    server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINFOLD_COMPACT__MODEL", "fake/cheap-1")
    session = await worked()
    await session.compact("handoff")
    assert await by_whom(session) == {"cheap-1"}
    await session.close()
