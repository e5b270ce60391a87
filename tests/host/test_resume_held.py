"""Choosing a session that another pinfold has open."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pinfold.headless import no_terminal
from pinfold.host.app_context import app_context
from pinfold.host.host import Host


async def test_it_opens_read_only_and_says_how_to_go_on(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    ctx = app_context(argparse.Namespace(model="gpt-5.2"))
    host = Host(ctx)
    with ctx.store.create(tmp_path, "test", lambda: datetime.now(UTC)) as journal:
        (line,) = host.catalog.list(9)
        assert line.held
        session = await host.resume(journal.started.id, no_terminal)
        assert any("/fork" in notice for notice in session.notices)
        copy = await host.fork(session.folder, None, no_terminal)
        assert copy.id != session.id
        assert not any("read-only" in notice for notice in copy.notices)
        await copy.close()
        await session.close()
    assert not host.catalog.list(9)[-1].held
