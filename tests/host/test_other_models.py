"""Another model, by name: one that is not there leaves the session with the one it has."""

import argparse
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.openai_server import FakeOpenAI, Reply
from pinfold.headless import no_terminal
from pinfold.host.app_context import app_context
from pinfold.host.host import Host
from pinfold.host.sessions import new_journal, open_session
from pinfold.ports.errors import NoSuchModel
from pinfold.rollout.events import ModelChanged
from pinfold.settings import SettingsError

PAGES = {"/v1/models": {"data": [{"id": "scripted-1"}, {"id": "scripted-2"}]}}


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI([Reply("Here.")], pages=PAGES) as running:
        for name, value in {
            "PINFOLD_HOME": str(tmp_path / "home"),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
            "PINFOLD_PROVIDERS__FAKE__BASE_URL": running.url,
            "PINFOLD_PROVIDERS__KEYED__BASE_URL": running.url,
            "PINFOLD_PROVIDERS__KEYED__API_KEY_ENV": "NOT_SET",
            "PINFOLD_MODEL__PROVIDER": "fake",
            "PINFOLD_MODEL__NAME": "scripted-1",
            "PINFOLD_MODEL__CONTEXT_WINDOW": "8192",
        }.items():
            monkeypatch.setenv(name, value)
        yield running


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nosuch", "has no model nosuch; there are scripted-1, scripted-2."),
        ("scripted2", "did you mean scripted-2?"),
        ("ghost/x", "has no model ghost/x;"),
        ("fake/nosuch", "has no model nosuch;"),
        ("keyed/scripted-2", "NOT_SET is not set"),
    ],
)
async def test_what_is_not_there_leaves_all_as_it_was(
    server: FakeOpenAI, tmp_path: Path, name: str, said: str
) -> None:
    ctx = app_context(argparse.Namespace(cd=tmp_path))
    session = await open_session(ctx, no_terminal, lambda: new_journal(ctx))
    before = (session.model, session.choice_note)
    with pytest.raises(NoSuchModel) as caught:
        await session.set_model(name)
    assert said in str(caught.value)
    assert (session.model, session.choice_note) == before
    session.send("Are you there?")
    await session.idle()
    assert session.items[-1].content == "Here."
    await session.close()


async def test_a_new_session_reads_the_settings_again(server: FakeOpenAI, tmp_path: Path) -> None:
    """A folder that was trusted meanwhile counts, and a wrong setting can be mended."""
    host = Host(app_context(argparse.Namespace(cd=tmp_path)))
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


async def test_what_is_there_says_that_it_was_chosen_by_name(
    server: FakeOpenAI, tmp_path: Path
) -> None:
    ctx = app_context(argparse.Namespace(cd=tmp_path))
    session = await open_session(ctx, no_terminal, lambda: new_journal(ctx))
    for name in ("scripted-2", "fake/scripted-1"):
        await session.set_model(name)
        assert ": chosen by name." in session.choice_note
    changes = [e.data.model for e in await session.events() if isinstance(e.data, ModelChanged)]
    assert changes == ["scripted-1", "scripted-2", "scripted-1"]
    await session.close()
