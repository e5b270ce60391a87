"""Another model, by name: one that is not there leaves the session with the one it has."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.openai_server import FakeOpenAI, Reply, use
from pinfold.headless import no_terminal
from pinfold.host.app_context import app_context
from pinfold.host.host import Host
from pinfold.host.sessions import new_journal, open_session
from pinfold.ports.errors import NoSuchModel
from pinfold.rollout.events import ModelChanged
from pinfold.settings import SettingsError

PAGES = {"/v1/models": {"data": [{"id": "scripted-1"}, {"id": "scripted-2"}]}}


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch, home: Path) -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI([Reply("Here.")] * 5, pages=PAGES) as running:
        keyed = {"BASE_URL": running.url, "API_KEY_ENV": "NOT_SET"}
        more = {f"PROVIDERS__KEYED__{name}": value for name, value in keyed.items()}
        use(monkeypatch, running.url, **more)
        yield running


MISSING = {
    "nosuch": "has no model nosuch; there are scripted-1, scripted-2.",
    "scripted2": "did you mean scripted-2?",
    "ghost/x": "has no model ghost/x;",
    "fake/nosuch": "has no model nosuch;",
    "keyed/scripted-2": "NOT_SET is not set",
}


async def test_another_model_by_name(server: FakeOpenAI) -> None:
    ctx = app_context()
    session = await open_session(ctx, no_terminal, lambda: new_journal(ctx))
    before = (session.model, session.choice_note)
    for name, said in MISSING.items():
        with pytest.raises(NoSuchModel) as caught:
            await session.set_model(name)
        assert said in str(caught.value)
        assert (session.model, session.choice_note) == before
        assert (await session.send("Are you there?")).answer == "Here."
    for name in ("scripted-2", "fake/scripted-1"):
        await session.set_model(name)
        assert ": chosen by name." in session.choice_note
    changes = [e.data.model for e in await session.events() if isinstance(e.data, ModelChanged)]
    assert changes == ["scripted-1", "scripted-2", "scripted-1"]
    await session.close()


async def test_a_new_session_reads_the_settings_again(server: FakeOpenAI, tmp_path: Path) -> None:
    """A folder that was trusted meanwhile counts, and a wrong setting can be fixed."""
    host = Host(app_context())
    project = tmp_path / ".pinfold" / "config.toml"
    project.parent.mkdir()
    project.write_text("[approvals]\nmode = 'full'\n[model]\nnmae = 'x'\n")
    session = await host.new(no_terminal)
    assert session.approvals == "ask"
    assert "approvals.mode, model.nmae wait" in host.warnings[0]
    await session.close()

    assert "/new" in host.trust()
    with pytest.raises(SettingsError, match=r"did you mean model\.name"):
        await host.new(no_terminal)
    project.write_text("[approvals]\nmode = 'full'\n")
    session = await host.new(no_terminal)
    assert (session.approvals, host.warnings) == ("full", ())
    await session.close()
