"""Settings follow the folder that a session works in; flags go with them."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pinfold.host.app_context import AppContext, app_context
from pinfold.host.sessions import own_folder
from pinfold.rollout.journal import JournalError
from pinfold.trust import trust


@pytest.fixture
def ctx(tmp_path: Path, home: Path) -> AppContext:
    """Launched in a trusted folder that lets everything run, with a model named by a flag."""
    folder = tmp_path.resolve() / "trusted"
    (folder / ".pinfold").mkdir(parents=True)
    (folder / ".pinfold" / "config.toml").write_text('[approvals]\nmode = "full"\n')
    trust(home, folder)
    return app_context(argparse.Namespace(cd=folder, model="by-flag"))


def session_in(ctx: AppContext, cwd: Path) -> Path:
    with ctx.store.create(cwd, "test", lambda: datetime.now(UTC)) as journal:
        return journal.folder


def test_a_session_has_the_settings_of_its_own_folder(ctx: AppContext, tmp_path: Path) -> None:
    assert ctx.settings.approvals.mode == "full"
    other = tmp_path / "other"
    other.mkdir()
    moved = own_folder(ctx, session_in(ctx, other))
    assert moved.cwd == other
    assert moved.settings.approvals.mode == "ask"
    assert moved.settings.model.name == "by-flag"


def test_only_a_fork_goes_on_without_its_folder(ctx: AppContext, tmp_path: Path) -> None:
    folder = session_in(ctx, tmp_path / "gone")
    with pytest.raises(JournalError, match="--fork"):
        own_folder(ctx, folder)
    assert own_folder(ctx, folder, else_here=True) == ctx
