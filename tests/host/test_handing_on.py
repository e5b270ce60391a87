"""A compacted copy of a session: the copy goes on, the session stays as it is."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.openai_server import FakeOpenAI, Reply, use
from pinfold import paths
from pinfold.agent.session import Session
from pinfold.headless import no_terminal
from pinfold.host.app_context import AppContext, app_context
from pinfold.host.handing_on import hand_on
from pinfold.host.sessions import new_journal, open_session
from pinfold.rollout.events import RequestFinished
from pinfold.settings import SettingsError
from pinfold.window.refused import Refused

LONG = "A fact about part {}, at length. " * 60


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch, home: Path) -> AsyncIterator[FakeOpenAI]:
    replies = [Reply(LONG.replace("{}", str(n))) for n in range(8)]
    async with FakeOpenAI([*replies, Reply("Done.")]) as running:
        use(monkeypatch, running.url)
        yield running


async def worked(ctx: AppContext, turns: int) -> Session:
    session = await open_session(ctx, no_terminal, lambda: new_journal(ctx))
    session.set_threshold("off")
    for turn in range(turns):
        session.send(f"Tell me of part {turn}; the port is 80{turn}1.")
        await session.idle()
    return session


async def test_the_copy_is_compacted_and_goes_on_while_the_session_stays(
    server: FakeOpenAI,
) -> None:
    ctx = app_context()
    session = await worked(ctx, 8)
    before = (session.folder / "rollout.jsonl").read_bytes()
    copy = await hand_on(ctx, session.folder, no_terminal, model="fake/another-1")
    assert copy.id != session.id
    assert copy.model.name == "another-1"
    assert copy.reading().used < session.reading().used
    assert copy.window.generations[-1].generation == 1
    copy.send("Go on.")
    await copy.idle()
    assert copy.items[-1].content == "Done."
    assert (session.folder / "rollout.jsonl").read_bytes() == before
    await copy.close()

    copy = await hand_on(ctx, session.folder, no_terminal, strategy="hierarchical")
    (asked,) = {
        event.data.compaction.strategy
        for event in await copy.events()
        if isinstance(event.data, RequestFinished) and event.data.compaction is not None
    }
    assert asked == "snapshot"
    await copy.close()

    server.script.insert(0, Reply(status=401, body={"error": {"message": "No such key."}}))
    assert (await session.send("And the rest?")).state == "waiting"
    await session.idle()
    copy = await hand_on(ctx, session.folder, no_terminal, model="fake/another-1")
    assert copy.window.generations[-1].reason == "manual"
    await copy.close()
    await session.close()


async def test_nothing_is_left_of_a_copy_that_cant_be_compacted(
    server: FakeOpenAI,
) -> None:
    ctx = app_context()
    session = await worked(ctx, 0)
    with pytest.raises(Refused):
        await hand_on(ctx, session.folder, no_terminal)
    assert [line.id for line in ctx.store.list()] == [session.id]
    await session.close()


async def test_nothing_is_left_of_a_copy_that_cant_be_opened(
    server: FakeOpenAI,
) -> None:
    ctx = app_context()
    session = await worked(ctx, 3)
    prompts = paths.config_folder() / "prompts"
    prompts.mkdir(parents=True)
    (prompts / "handoff.md").write_text("x" * 30_000)
    for model in (None, "fake/another-1"):
        with pytest.raises(SettingsError):
            await hand_on(ctx, session.folder, no_terminal, model=model)
    assert [line.id for line in ctx.store.list()] == [session.id]
    folders = {file.parent for file in ctx.home.glob("sessions/**/rollout.jsonl")}
    assert folders == {session.folder}
    await session.close()
